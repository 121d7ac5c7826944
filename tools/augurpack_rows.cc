// SPDX-License-Identifier: Apache-2.0
#include "tools/augurpack_rows.h"

#include <utility>

#include "tools/remote_options.h"

namespace augur {

void AddRemoteOptions(Command& command) {
  for (Option& option : RemoteOptionRows(OptionPlace::kCommand)) command.options.push_back(std::move(option));
}

Option Quiet() {
  return {.name = "quiet", .short_name = 'q', .brief = "no progress and no summary", .text = "Errors are still said."};
}

Option Summary() { return JsonOption("The summary, on stdout. Sizes are in bytes."); }

Option Threads() {
  return {.name = "threads",
          .value = "N",
          .kind = OptionKind::kCount,
          .default_value = "0",
          .max = 1024,
          .brief = "worker threads",
          .text = "0: as many as cores, at least 2."};
}

}  // namespace augur
