// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"

namespace augur {
namespace {

uint64_t Number(const nlohmann::json& header, const char* name) {
  const auto found = header.find(name);
  return found != header.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

}  // namespace

Status RunDrop(const DropOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "drop"}}, nullptr);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  const uint64_t retained_cache = Number(answer->header, "retained_cache_bytes");
  const uint64_t pushed = Number(answer->header, "push_window_bytes");
  if (options.json) {
    const nlohmann::ordered_json json = {{"retained_cache_bytes", retained_cache}, {"push_window_bytes", pushed}};
    return WriteOut(json.dump(2) + "\n");
  }
  return WriteOut("dropped " + FormatSize(retained_cache) + " of the retained cache and " + FormatSize(pushed) +
                  " that were pushed ahead\n");
}

}  // namespace augur
