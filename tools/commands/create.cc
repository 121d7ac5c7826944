// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string_view>

#include "pack/glob.h"
#include "tools/commands/archive_pack.h"
#include "tools/commands/commands.h"
#include "tools/commands/decode_pack.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/commands/pack_target.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// Packs into the folder of the target, with the options of the store.
int PackInto(const PackTarget& target, const PackOptions& options, SourceKind kind, const PathFilter& filter,
             std::string_view verb, WriterOptions writer_options) {
  PackOptions in_folder = options;
  in_folder.store = target.folder();
  // Of a store in a bucket the folder has only a part at a time.
  in_folder.check_room = options.check_room && target.upload() == nullptr;
  writer_options = WithPackOptions(options, writer_options);
  writer_options.upload = target.upload();
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(target.folder(), writer_options);
  if (!writer.ok()) return FailToBegin(writer.status(), writer_options.mode, options.resume);
  HintAtContent(options, kind, filter);
  PackSession session(verb, options.quiet, options.json, options.on_error);
  const Status packed = PackSource(in_folder, kind, options.store, filter, **writer, session);
  if (!packed.ok()) return target.Fail(packed, **writer, session);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return target.Fail(summary.status(), **writer, session);
  return session.Finish(StoreForLog(options.store), *summary);
}

int RunPack(const PackOptions& options, std::string_view verb, const WriterOptions& writer_options) {
  const StopSignals signals;
  const Result<SourceKind> kind = KindOfSource(options);
  if (!kind.ok()) return Fail(kAugurpack, kind.status());
  const Result<PathFilter> filter = PathFilter::Make(options.include, options.exclude);
  if (!filter.ok()) return Fail(kAugurpack, filter.status());
  if (const Status listing = CheckListing(options, *kind == SourceKind::kFolder); !listing.ok())
    return Fail(kAugurpack, listing);
  const Result<std::unique_ptr<PackTarget>> target = PackTarget::Make(options, writer_options.mode);
  if (!target.ok()) return FailToBegin(target.status(), writer_options.mode, options.resume);
  return PackInto(**target, options, *kind, *filter, verb, writer_options);
}

}  // namespace

int RunCreate(const CreateOptions& options) {
  // A tar may hold a path twice; as when it is unpacked, the later one counts.
  const WriterOptions writer = {.mode = options.force ? WriteMode::kReplace : WriteMode::kCreate,
                                .on_duplicate = OnDuplicate::kLast};
  if (options.decode && options.decode->has_archives()) return RunArchivePack(options, *options.decode);
  return options.decode ? RunDecodePack(options, *options.decode, writer) : RunPack(options, "packing", writer);
}

int RunAppend(const AppendOptions& options) {
  return RunPack(
      options, "adding",
      {.mode = WriteMode::kAppend, .on_duplicate = options.replace ? OnDuplicate::kLast : OnDuplicate::kRefuse});
}

}  // namespace augur
