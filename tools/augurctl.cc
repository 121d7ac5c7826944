// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string_view>
#include <variant>

#include "tools/augurctl_options.h"
#include "tools/control_commands/commands.h"
#include "tools/output.h"

namespace {

using namespace augur;  // NOLINT(google-build-using-namespace)

Result<int> ExitOf(const Status& status) {
  if (!status.ok()) return status;
  return kExitDone;
}

struct Run {
  Result<int> operator()(const HintOptions& options) const { return ExitOf(RunHint(options)); }
  Result<int> operator()(const StatusOptions& options) const { return ExitOf(RunStatus(options)); }
  Result<int> operator()(const DropOptions& options) const { return ExitOf(RunDrop(options)); }
  Result<int> operator()(const ViewsOptions& options) const { return ExitOf(RunViews(options)); }
  Result<int> operator()(const RestartOptions& options) const { return ExitOf(RunRestart(options)); }
  Result<int> operator()(const TopOptions& options) const { return RunTop(options); }
  Result<int> operator()(const ReportOptions& options) const { return ExitOf(RunReport(options)); }
  Result<int> operator()(const DoctorOptions& options) const { return RunDoctor(options); }
  Result<int> operator()(const WarmOptions& options) const { return RunWarm(options); }
};

constexpr std::string_view kProgram = "augurctl";

Result<int> Main(int argc, const char* const* argv) {
  AUGUR_TRY_ASSIGN(options, ParseAugurctl(argc, argv));
  if (!options.print.empty()) return ExitOf(WriteOut(options.print));
  return std::visit(Run{}, options.command);
}

}  // namespace

int main(int argc, char** argv) {
  IgnoreBrokenPipe();
  try {
    const Result<int> status = Main(argc, argv);
    return status.ok() ? *status : Fail(kProgram, status.status());
  } catch (const std::exception& error) {
    // Ours throws nothing: this is the library telling us that memory is used up.
    PrintError(kProgram, error.what());
    return kExitError;
  }
}
