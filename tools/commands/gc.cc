// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "augur/store_writer.h"
#include "base/units.h"
#include "tools/commands/commands.h"
#include "tools/output.h"

namespace augur {

int RunGc(const GcOptions& options) {
  const Result<CollectReport> report = RemoveOldGenerations(options.store, options.older_than);
  if (!report.ok()) return Fail(kAugurpack, report.status());
  if (options.quiet) return kExitDone;
  std::string text = "removed " + std::to_string(report->removed_files) +
                     (report->removed_files == 1 ? " file, " : " files, ") + FormatSize(report->removed_bytes);
  if (report->kept_generations > 0) {
    text += "; " + std::to_string(report->kept_generations) +
            (report->kept_generations == 1 ? " earlier generation is" : " earlier generations are") +
            (options.older_than.count() > 0 ? " still in use, or too young, and kept" : " still in use and kept");
  }
  const Status written = WriteOut(text + "\n");
  return written.ok() ? kExitDone : Fail(kAugurpack, written);
}

}  // namespace augur
