// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/units.h"
#include "pack/adopt_objects.h"
#include "s3/object_url.h"
#include "tools/commands/commands.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/commands/pack_target.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// What to do about a path that comes twice.
Status WithDuplicateCure(const Status& status, OnDuplicate policy) {
  const bool twice = status.code() == Code::kExists && status.text().find(" comes twice: ") != std::string::npos;
  if (!twice || policy != OnDuplicate::kRefuse) return status;
  return {Code::kExists, status.text() + ": --on-duplicate=first or --on-duplicate=last says which of them holds"};
}

WriterOptions WriterOptionsOf(const AdoptOptions& options) {
  return {.mode = options.force ? WriteMode::kReplace : WriteMode::kCreate,
          .on_duplicate = options.on_duplicate,
          .writer = std::string(kPackWriter)};
}

TarLayout LayoutOf(const AdoptOptions& options) {
  return {.nested = options.nested, .classes = options.classes, .ignore_zeros = options.ignore_zeros};
}

// The tars and the store as addresses of one bucket. kInvalid: they are not, with what to do.
Result<AdoptObjectsOptions> KeysOf(const AdoptOptions& options) {
  const Status not_one(Code::kInvalid, StoreForLog(options.store) +
                                           ": the tar files and the store must be in one bucket: a store names others "
                                           "of its bucket alone. Copy the store there, or the tar files here");
  if (options.absolute) return Status(Code::kInvalid, "--absolute is for tar files and stores in folders");
  if (!IsFarAway(options.store)) return not_one;
  AUGUR_TRY_ASSIGN(store, ObjectUrl::Parse(options.store));
  AdoptObjectsOptions keys{.patterns = {}, .store = {}, .layout = LayoutOf(options)};
  for (const std::string& tar : options.tars) {
    if (!IsFarAway(tar)) return not_one;
    AUGUR_TRY_ASSIGN(url, ObjectUrl::Parse(tar));
    if (!url.is_s3() || !store.is_s3() || url.bucket() != store.bucket()) return not_one;
    keys.patterns.push_back(url.KeyOf(""));
  }
  keys.store = store.KeyOf("");
  return keys;
}

// In a bucket.
int RunFarAdopt(const AdoptOptions& options) {
  const StopSignals signals;
  const Result<AdoptObjectsOptions> keys = KeysOf(options);
  if (!keys.ok()) return Fail(kAugurpack, keys.status());
  const Result<std::shared_ptr<ObjectClient>> client = MakeObjectClient(options.store, options.remote, ThisUser());
  if (!client.ok()) return Fail(kAugurpack, client.status());
  PackOptions pack;
  pack.store = options.store;
  pack.work_dir = options.work_dir;
  pack.remote = options.remote;
  WriterOptions writer_options = WriterOptionsOf(options);
  const Result<std::unique_ptr<PackTarget>> target = PackTarget::Make(pack, writer_options.mode);
  if (!target.ok()) return Fail(kAugurpack, WithCure(target.status(), writer_options.mode));
  writer_options.upload = (*target)->upload();
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin((*target)->folder(), writer_options);
  if (!writer.ok()) return Fail(kAugurpack, writer.status());
  PackSession session("adopting", options.quiet, options.json, OnError::kStop);
  const BucketClient bucket(*client, [] { return StopSignals::Caught() != 0; });
  const Status adopted = AdoptObjects(*keys, bucket, **writer, session);
  if (!adopted.ok()) return session.Fail(adopted, (*target)->Cure(adopted));
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) {
    return session.Fail(WithDuplicateCure(summary.status(), options.on_duplicate), (*target)->Cure(summary.status()));
  }
  return session.Finish(StoreForLog(options.store), *summary);
}

bool IsAnyFarAway(const AdoptOptions& options) {
  return IsFarAway(options.store) || std::any_of(options.tars.begin(), options.tars.end(), IsFarAway);
}

}  // namespace

int RunAdopt(const AdoptOptions& options) {
  if (IsAnyFarAway(options)) return RunFarAdopt(options);
  if (!options.work_dir.empty()) {
    return Fail(kAugurpack,
                {Code::kInvalid, "--work-dir is for stores in a bucket: " + Printable(options.store) + " is a folder"});
  }
  const StopSignals signals;
  const WriterOptions writer_options = WriterOptionsOf(options);
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, writer_options);
  if (!writer.ok()) {
    const bool exists = writer.status().code() == Code::kExists;
    return Fail(kAugurpack, exists
                                ? Status(Code::kExists, writer.status().text() +
                                                            ": replace its tree with --force, or choose another name")
                                : writer.status());
  }
  PackSession session("adopting", options.quiet, options.json, OnError::kStop);
  const std::string_view cure = ": nothing is left of this run";
  const Status adopted = AdoptTars(
      {.tars = options.tars, .store = options.store, .absolute = options.absolute, .layout = LayoutOf(options)},
      **writer, session);
  if (!adopted.ok()) return session.Fail(adopted, cure);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return session.Fail(WithDuplicateCure(summary.status(), options.on_duplicate), cure);
  return session.Finish(options.store, *summary);
}

}  // namespace augur
