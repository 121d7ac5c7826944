// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string_view>
#include <variant>

#include "tools/augurctl_options.h"
#include "tools/control_commands/commands.h"
#include "tools/output.h"

namespace {

using namespace augur;  // NOLINT(google-build-using-namespace)

struct Run {
  Status operator()(const HintOptions& options) const { return RunHint(options); }
  Status operator()(const StatusOptions& options) const { return RunStatus(options); }
  Status operator()(const DropOptions& options) const { return RunDrop(options); }
  Status operator()(const ViewsOptions& options) const { return RunViews(options); }
};

constexpr std::string_view kProgram = "augurctl";

Status Main(int argc, const char* const* argv) {
  AUGUR_TRY_ASSIGN(options, ParseAugurctl(argc, argv));
  if (!options.print.empty()) return WriteOut(options.print);
  return std::visit(Run{}, options.command);
}

}  // namespace

int main(int argc, char** argv) {
  IgnoreBrokenPipe();
  try {
    const Status status = Main(argc, argv);
    return status.ok() ? kExitDone : Fail(kProgram, status);
  } catch (const std::exception& error) {
    // Ours throws nothing: this is the library telling us that memory is used up.
    PrintError(kProgram, error.what());
    return kExitError;
  }
}
