// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "base/units.h"
#include "tools/commands/commands.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/output.h"

namespace augur {

// An append that adds nothing: the writer writes the newest version of the format.
int RunUpgrade(const UpgradeOptions& options) {
  const StopSignals signals;
  const Result<std::shared_ptr<const Store>> store = Store::Open(options.store);
  if (!store.ok()) return Fail(kAugurpack, store.status());
  if ((*store)->summary().root_hash) {
    if (options.json) {
      const StoreSummary& is = (*store)->summary();
      PackSession session("upgrading", options.quiet, options.json, OnError::kStop);
      return session.Finish(options.store, {.file_count = is.file_count,
                                            .directory_count = is.directory_count,
                                            .symlink_count = is.symlink_count,
                                            .image_count = is.image_count,
                                            .tree_bytes = is.tree_bytes,
                                            .generation = is.generation});
    }
    if (options.quiet) return kExitDone;
    const Status written = WriteOut(Printable(options.store) + ": is of format version " +
                                    std::to_string((*store)->summary().version) + " already\n");
    return written.ok() ? kExitDone : Fail(kAugurpack, written);
  }
  PackSession session("upgrading", options.quiet, options.json, OnError::kStop);
  const auto run = [&]() -> Result<WriterSummary> {
    AUGUR_TRY_ASSIGN(writer, StoreWriter::Begin(options.store, {.mode = WriteMode::kAppend,
                                                                .writer = std::string(kPackWriter),
                                                                .stopped = StopSignals::Caught}));
    return writer->Commit();
  };
  const Result<WriterSummary> summary = run();
  if (summary.ok()) return session.Finish(options.store, *summary);
  return session.Fail(WithWriteCure(summary.status()),
                      ": nothing is left of this run, and the store is as it was; the same command starts anew");
}

}  // namespace augur
