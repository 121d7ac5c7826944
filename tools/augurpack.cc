// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <string_view>
#include <variant>

#include "base/log.h"
#include "tools/augurpack_options.h"
#include "tools/bus_error.h"
#include "tools/commands/commands.h"
#include "tools/output.h"

namespace {

using namespace augur;  // NOLINT(google-build-using-namespace)

struct Run {
  int operator()(const CreateOptions& options) const { return RunCreate(options); }
  int operator()(const AppendOptions& options) const { return RunAppend(options); }
  int operator()(const AdoptOptions& options) const { return RunAdopt(options); }
  int operator()(const GcOptions& options) const { return RunGc(options); }
  int operator()(const InfoOptions& options) const { return RunInfo(options); }
  int operator()(const LsOptions& options) const { return RunLs(options); }
  int operator()(const VerifyOptions& options) const { return RunVerify(options); }
  int operator()(const ExtractOptions& options) const { return RunExtract(options); }
  int operator()(const UpgradeOptions& options) const { return RunUpgrade(options); }
};

int Main(int argc, const char* const* argv) {
  const Result<AugurpackOptions> options = ParseAugurpack(argc, argv);
  if (!options.ok()) return Fail(kAugurpack, options.status());
  if (!options->print.empty()) {
    const Status printed = WriteOut(options->print);
    return printed.ok() ? kExitDone : Fail(kAugurpack, printed);
  }
  if (const Status log = StartLog(std::string(kAugurpack), LogTarget::kStderr); !log.ok()) return Fail(kAugurpack, log);
  return std::visit(Run{}, options->command);
}

}  // namespace

int main(int argc, char** argv) {
  IgnoreBrokenPipe();
  EndOnBusError();
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    // Ours throws nothing: this is the library telling us that memory is used up.
    PrintError(kAugurpack, error.what());
    return kExitError;
  }
}
