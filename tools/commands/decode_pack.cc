// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/decode_pack.h"

#include <memory>
#include <string>
#include <string_view>

#include "augur/store.h"
#include "base/cores.h"
#include "base/recycled_memory.h"
#include "base/units.h"
#include "pack/decode_source.h"
#include "pack/glob.h"
#include "pack/pack_view.h"
#include "store/hash.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/commands/pack_target.h"
#include "tools/commands/problem_log.h"
#include "tools/heap.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// Once the source is packed.
constexpr std::string_view kPackedCure =
    ": the same command with --resume goes on from here, with the source as it was packed (a copy of it is in the "
    "store's "
    "folder until then); to look at a source that has changed, run it without --resume";

// Of an image that cannot be decoded.
constexpr std::string_view kSkipCure = ": --on-error=skip leaves such files out, and goes on from here with --resume";

// All that decides on what is made: with anything else, what a killed run left is of no use.
std::string Recipe(const CreateOptions& options, const ViewSpec& spec, const DecodeSource& source) {
  std::string recipe = ViewRecipe(spec) + "of " + source.identity + "\n";
  if (options.ignore_zeros) recipe += "ignore-zeros\n";
  if (options.listing) recipe += "listing\n";
  const SampleOptions& samples = options.samples;
  if (!samples.folders_from.empty()) recipe += "folders from " + Printable(samples.folders_from) + "\n";
  if (!samples.names_from.empty()) recipe += "names from " + Printable(samples.names_from) + "\n";
  if (!samples.database.empty()) recipe += "database " + Printable(samples.database) + "\n";
  for (const std::string& pattern : options.include) recipe += "include " + Printable(pattern) + "\n";
  for (const std::string& pattern : options.exclude) recipe += "exclude " + Printable(pattern) + "\n";
  return recipe;
}

}  // namespace

Result<DecodeSource> FindViewSource(const CreateOptions& options) {
  if (!options.more_sources.empty()) {
    AUGUR_TRY(KindOfSource(options).status());
    AUGUR_TRY_ASSIGN(all, FindDecodeSource(options.source, options.store));
    for (const std::string& source : options.more_sources) {
      AUGUR_TRY_ASSIGN(next, FindDecodeSource(source, options.store));
      all.identity += "\n" + next.identity;
    }
    return all;
  }
  if (!IsFarAway(options.source)) return FindDecodeSource(options.source, options.store);
  const Result<std::shared_ptr<const Store>> opened = OpenStore(options.source, {}, options.remote);
  if (opened.ok()) {
    return DecodeSource{.store = *opened, .identity = "store " + HexOf((*opened)->summary().index_id)};
  }
  if (opened.status().code() != Code::kNotFound) return opened.status();
  return DecodeSource{.store = nullptr, .identity = "bucket " + StoreForLog(options.source)};
}

Result<std::shared_ptr<const Store>> PackViewSource(const CreateOptions& options, const std::string& store,
                                                    const std::string& work, const PathFilter& filter,
                                                    PackSession& session) {
  const std::string place = work + "/source";
  const std::string problems = work + "/problems";
  if (options.resume) {
    Result<std::shared_ptr<const Store>> whole = Store::Open(place);
    if (whole.ok()) AUGUR_TRY(ProblemLog::Replay(problems, session));
    if (whole.ok()) return whole;
    if (whole.status().code() != Code::kNotFound) {
      return Status(whole.status().code(), whole.status().text() + ": without --resume it is packed again");
    }
  }
  session.BeginPass("packing");
  AUGUR_TRY_ASSIGN(kind, KindOfSource(options));
  HintAtContent(options, kind, filter);
  AUGUR_TRY_ASSIGN(writer, StoreWriter::Begin(place, WithPackOptions(options, {.on_duplicate = OnDuplicate::kLast})));
  ProblemLog log(problems, session);
  AUGUR_TRY(PackSource(options, kind, store, filter, *writer, log));
  AUGUR_TRY(writer->Commit().status());
  writer.reset();  // its lock and its memory
  return Store::Open(place);
}

namespace {

// `store`: as the user named it; that of the options is the folder that is written to.
Result<WriterSummary> Decode(const CreateOptions& options, const std::string& store, const ViewSpec& spec,
                             const PathFilter& filter, DecodeSource& source, StoreWriter& writer,
                             PackSession& session) {
  const bool packs_first = source.store == nullptr;
  if (packs_first) {
    AUGUR_TRY_ASSIGN(packed, PackViewSource(options, store, WorkFolder(options.store), filter, session));
    source.store = packed;
  }
  session.BeginPass("decoding");
  AUGUR_TRY(PackView(*source.store,
                     {.source = SourceForLog(options.source),
                      .spec = spec,
                      .filter = packs_first ? PathFilter() : filter,
                      .store = options.store,
                      .resume = options.resume,
                      .check_room = options.check_room,
                      .decode_threads = options.threads == 0 ? UsableCores() : options.threads},
                     writer, session));
  source.store.reset();  // what was packed first is removed now, and a file server keeps files that are open
  return writer.Commit();
}

}  // namespace

int RunDecodePack(const CreateOptions& given, const ViewSpec& spec, WriterOptions writer_options) {
  KeepHeapSmall();
  RecycledMemory::KeepAtMost(16 * kMiB);
  const StopSignals signals;
  const Result<PathFilter> filter = PathFilter::Make(given.include, given.exclude);
  if (!filter.ok()) return Fail(kAugurpack, filter.status());
  Result<DecodeSource> source = FindViewSource(given);
  if (!source.ok()) return Fail(kAugurpack, source.status());
  const bool of_store = source->store != nullptr;
  const bool store_has_listing = of_store && source->store->summary().has_listing;
  if (given.listing && !store_has_listing) {
    const Result<SourceKind> kind = of_store ? Result<SourceKind>(SourceKind::kArchive) : KindOfSource(given);
    if (!kind.ok()) return Fail(kAugurpack, kind.status());
    const Status listing = CheckListing(given, *kind == SourceKind::kFolder);
    if (!listing.ok()) return Fail(kAugurpack, listing);
  }
  // Before a folder is touched: a name that is mistyped would be taken for another recipe, and what is left cleared.
  if (const Status names = ReadSampleLayout(given.samples).status(); !names.ok()) return Fail(kAugurpack, names);
  const Result<std::unique_ptr<PackTarget>> target = PackTarget::Make(given, writer_options.mode);
  if (!target.ok()) return FailToBegin(target.status(), writer_options.mode, given.resume);
  CreateOptions options = given;
  options.store = (*target)->folder();
  const bool in_folder = (*target)->upload() == nullptr;
  // Of a store in a bucket the folder has only a part at a time.
  options.check_room = given.check_room && in_folder;
  writer_options = WithPackOptions(options, writer_options);
  writer_options.listing = writer_options.listing || store_has_listing;
  writer_options.upload = (*target)->upload();
  writer_options.recipe = Recipe(options, spec, *source);
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, writer_options);
  if (!writer.ok()) return FailToBegin(writer.status(), writer_options.mode, given.resume);
  PackSession session("decoding", options.quiet, options.json, options.on_error);
  const bool packs_first = source->store == nullptr;
  const Result<WriterSummary> summary = Decode(options, given.store, spec, *filter, *source, **writer, session);
  if (!summary.ok()) {
    const bool is_packed = in_folder && packs_first && source->store != nullptr;
    Status failure = summary.status();
    const bool is_bad_image = failure.code() == Code::kCorrupt || failure.code() == Code::kUnsupported;
    // A resume of the same command meets it again.
    if (is_bad_image && source->store != nullptr) failure = {Code::kCorrupt, failure.text() + std::string(kSkipCure)};
    return (*target)->Fail(failure, **writer, session, is_packed ? kPackedCure : kResumeCure);
  }
  return session.Finish(StoreForLog(given.store), *summary);
}

}  // namespace augur
