// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string_view>

#include "pack/glob.h"
#include "tools/commands/commands.h"
#include "tools/commands/decode_pack.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/output.h"

namespace augur {
namespace {

int RunPack(const PackOptions& options, std::string_view verb, WriterOptions writer_options) {
  const StopSignals signals;
  const Result<bool> folder = IsFolder(options.source);
  if (!folder.ok()) return Fail(kAugurpack, folder.status());
  const Result<PathFilter> filter = PathFilter::Make(options.include, options.exclude);
  if (!filter.ok()) return Fail(kAugurpack, filter.status());
  if (const Status listing = CheckListing(options, *folder); !listing.ok()) return Fail(kAugurpack, listing);
  writer_options = WithPackOptions(options, writer_options);
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, writer_options);
  if (!writer.ok()) return Fail(kAugurpack, WithCure(writer.status(), writer_options.mode));
  PackSession session(verb, options.quiet, options.json, options.on_error);
  const Status packed = PackSource(options, *folder, *filter, **writer, session);
  if (!packed.ok()) return session.Fail(packed, kResumeCure);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return session.Fail(summary.status(), kResumeCure);
  return session.Finish(options.store, *summary);
}

}  // namespace

int RunCreate(const CreateOptions& options) {
  // A tar may hold a path twice; as when it is unpacked, the later one counts.
  const WriterOptions writer = {.mode = options.force ? WriteMode::kReplace : WriteMode::kCreate,
                                .on_duplicate = OnDuplicate::kLast};
  return options.decode ? RunDecodePack(options, *options.decode, writer) : RunPack(options, "packing", writer);
}

int RunAppend(const AppendOptions& options) {
  return RunPack(
      options, "adding",
      {.mode = WriteMode::kAppend, .on_duplicate = options.replace ? OnDuplicate::kLast : OnDuplicate::kRefuse});
}

}  // namespace augur
