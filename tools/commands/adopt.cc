// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

constexpr std::string_view kNothingLeft = ": nothing is left of this run";

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

Result<ContainerLayout> LayoutOf(const AdoptOptions& options) {
  AUGUR_TRY_ASSIGN(samples, ReadSampleLayout(options.samples));
  return ContainerLayout{.nested = options.nested,
                         .classes = options.classes,
                         .ignore_zeros = options.ignore_zeros,
                         .samples = std::move(samples)};
}

// The containers as addresses, each with who reads it. kInvalid: one is none, with what to do.
Result<std::vector<ContainerAddress>> AddressesOf(const AdoptOptions& options) {
  if (options.absolute) return Status(Code::kInvalid, "--absolute is for files and stores in folders");
  std::vector<ContainerAddress> containers;
  std::map<std::string, std::shared_ptr<ObjectClient>> of_bucket;
  for (const std::string& file : options.files) {
    if (!IsFarAway(file)) {
      return Status(Code::kInvalid,
                    Printable(file) + (IsFarAway(options.store)
                                           ? ": a store in a bucket cannot name a file of this machine: copy it "
                                             "to a bucket, or make the store in a folder"
                                           : ": one store takes files of folders, or those of servers: make two "
                                             "stores, or give an address for each"));
    }
    AUGUR_TRY_ASSIGN(url, ObjectUrl::Parse(file));
    std::shared_ptr<ObjectClient> client = url.is_s3() ? of_bucket[url.bucket()] : nullptr;
    if (client == nullptr) {
      AUGUR_TRY_ASSIGN(made, MakeObjectClient(file, options.remote, ThisUser()));
      client = std::move(made);
      if (url.is_s3()) of_bucket[url.bucket()] = client;
    }
    containers.push_back({.url = std::move(url), .client = std::move(client)});
  }
  return containers;
}

Result<AdoptObjectsOptions> ObjectsOf(const AdoptOptions& options) {
  AUGUR_TRY_ASSIGN(containers, AddressesOf(options));
  AUGUR_TRY_ASSIGN(layout, LayoutOf(options));
  AdoptObjectsOptions objects{
      .containers = std::move(containers), .store = {}, .layout = std::move(layout), .stopped = StopSignals::Caught};
  if (IsFarAway(options.store)) {
    AUGUR_TRY_ASSIGN(store, ObjectUrl::Parse(options.store));
    objects.store = std::move(store);
  }
  return objects;
}

// Of containers that are objects, or into a bucket.
int RunFarAdopt(const AdoptOptions& options) {
  const StopSignals signals;
  const Result<AdoptObjectsOptions> objects = ObjectsOf(options);
  if (!objects.ok()) return Fail(kAugurpack, objects.status());
  PackOptions pack;
  pack.store = options.store;
  pack.work_dir = options.work_dir;
  pack.remote = options.remote;
  WriterOptions writer_options = WriterOptionsOf(options);
  const Result<std::unique_ptr<PackTarget>> target = PackTarget::Make(pack, writer_options.mode);
  if (!target.ok()) return FailToBegin(target.status(), writer_options.mode);
  writer_options.upload = (*target)->upload();
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin((*target)->folder(), writer_options);
  if (!writer.ok()) return FailToBegin(writer.status(), writer_options.mode);
  PackSession session("adopting", options.quiet, options.json, OnError::kStop);
  const auto cure = [&](const Status& status) {
    return writer_options.upload != nullptr ? (*target)->FarCure(status) : kNothingLeft;
  };
  const Status adopted = AdoptObjects(*objects, **writer, session);
  if (!adopted.ok()) return session.Fail(adopted, cure(adopted));
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) {
    return session.Fail(WithDuplicateCure(summary.status(), options.on_duplicate), cure(summary.status()));
  }
  return session.Finish(StoreForLog(options.store), *summary);
}

bool IsAnyFarAway(const AdoptOptions& options) {
  return IsFarAway(options.store) || std::any_of(options.files.begin(), options.files.end(), IsFarAway);
}

}  // namespace

int RunAdopt(const AdoptOptions& options) {
  if (IsAnyFarAway(options)) return RunFarAdopt(options);
  if (!options.work_dir.empty()) {
    return Fail(kAugurpack,
                {Code::kInvalid, "--work-dir is for stores in a bucket: " + Printable(options.store) + " is a folder"});
  }
  const StopSignals signals;
  const Result<ContainerLayout> layout = LayoutOf(options);
  if (!layout.ok()) return Fail(kAugurpack, layout.status());
  const WriterOptions writer_options = WriterOptionsOf(options);
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, writer_options);
  if (!writer.ok()) {
    const bool exists = writer.status().code() == Code::kExists;
    return Fail(kAugurpack, exists
                                ? Status(Code::kExists, writer.status().text() +
                                                            ": replace its tree with --force, or choose another name")
                                : WithWriteCure(writer.status()));
  }
  PackSession session("adopting", options.quiet, options.json, OnError::kStop);
  const Status adopted =
      AdoptFiles({.files = options.files, .store = options.store, .absolute = options.absolute, .layout = *layout},
                 **writer, session);
  if (!adopted.ok()) return session.Fail(adopted, kNothingLeft);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return session.Fail(WithDuplicateCure(summary.status(), options.on_duplicate), kNothingLeft);
  return session.Finish(options.store, *summary);
}

}  // namespace augur
