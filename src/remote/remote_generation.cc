// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_generation.h"

#include <optional>
#include <span>
#include <utility>

#include "base/log.h"
#include "base/units.h"
#include "remote/remote_place.h"
#include "store/manifest.h"

namespace augur {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

RemoteGeneration::RemoteGeneration(std::shared_ptr<ObjectClient> client, Options options)
    : client_(std::move(client)),
      options_(std::move(options)),
      writer_(client_, options_.stopped),
      claim_(writer_, options_.writer) {}

Result<std::unique_ptr<RemoteGeneration>> RemoteGeneration::Begin(std::shared_ptr<ObjectClient> client,
                                                                  Options options) {
  std::unique_ptr<RemoteGeneration> made(new RemoteGeneration(std::move(client), std::move(options)));
  AUGUR_TRY(made->ReadManifest());
  if (made->options_.mode == WriteMode::kAppend) AUGUR_TRY(made->OpenOld());
  AUGUR_TRY(made->claim_.Take(made->old_generation_));
  AUGUR_TRY(made->claim_.Probe(/*replaces=*/!made->old_etag_.empty()));
  AUGUR_TRY_ASSIGN(uploads, FileUploads::Start(made->writer_));
  made->uploads_ = std::move(uploads);
  return made;
}

RemoteGeneration::~RemoteGeneration() {
  old_.reset();
  if (generation() > 0 && !keeps_objects_) RemoveTraces();
}

Status RemoteGeneration::ReadManifest() {
  const std::string shown = writer_.ForLog();
  const Result<std::string> text = writer_.Get(kManifestName, &old_etag_);
  if (!text.ok()) {
    if (text.status().code() != Code::kNotFound) return text.status();
    // The sentence about a missing bucket is another one than that about a missing object.
    AUGUR_TRY(writer_.List().status());
    if (options_.mode != WriteMode::kAppend) return Status::Ok();
    return {Code::kNotFound, shown + ": there is no store to append to: create one first"};
  }
  if (options_.mode == WriteMode::kCreate) return {Code::kExists, shown + ": there is a store already"};
  if (old_etag_.empty()) {
    return {Code::kUnsupported,
            shown + ": the server gives the manifest no ETag, by which two packers could be told apart"};
  }
  const Result<Manifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return manifest.status().In(writer_.ForLog(kManifestName));
  old_generation_ = manifest->generation;
  return Status::Ok();
}

Status RemoteGeneration::OpenOld() {
  const RemotePlace place(client_, options_.copies);
  AUGUR_TRY_ASSIGN(store, Store::Open(place, {}));
  if (store->summary().generation != old_generation_) {
    return {Code::kBusy, writer_.ForLog() + ": another packer has published a generation just now: run it again"};
  }
  old_ = std::move(store);
  return Status::Ok();
}

Status RemoteGeneration::Take(const std::string& name, UniqueFd file, uint64_t bytes) {
  const Status added = uploads_->Add(name, std::move(file), bytes);
  return added.code() == Code::kNotFound ? Status(Code::kIo, added.text()) : added;
}

Status RemoteGeneration::Publish(const Manifest& manifest) {
  AUGUR_TRY(uploads_->Drain());
  uploads_.reset();
  const std::string text = RenderManifest(manifest);
  // From here on it goes to the end: a request that is cut may have taken effect.
  writer_.IgnoreStop();
  keeps_objects_ = true;
  const PutCondition condition = old_etag_.empty() ? PutCondition::IfNew() : PutCondition::IfSame(old_etag_);
  Status published = writer_.Put(kManifestName, Bytes(text), condition);
  if (published.code() == Code::kExists) {
    published = WhoWon(text);
    keeps_objects_ = published.ok();
    if (!published.ok()) return published;
  }
  if (!published.ok()) {
    const Result<std::string> there = writer_.Get(kManifestName, nullptr);
    if (!there.ok() || *there != text) {
      return {published.code(), published.text() + ": whether generation " + std::to_string(generation()) +
                                    " was published is not known: see 'augurpack info', and run the same command again "
                                    "if it was not"};
    }
  }
  Status removed = claim_.Remove();
  if (generation() > old_generation_ + 1) {
    const Status others = RemoveObjects(old_generation_ + 1, generation() - 1);
    if (removed.ok()) removed = others;
  }
  if (!removed.ok()) spdlog::warn("the store is there, but what other packers left is not removed: {}", removed.text());
  return Status::Ok();
}

Status RemoteGeneration::WhoWon(const std::string& ours) const {
  const std::string shown = writer_.ForLog();
  const Result<std::string> there = writer_.Get(kManifestName, nullptr);
  if (there.ok() && *there == ours) return Status::Ok();
  std::string who = "the manifest was removed";
  if (there.ok()) {
    const Result<Manifest> manifest = ParseManifest(*there);
    const bool cleared = manifest.ok() && manifest->generation == old_generation_;
    if (cleared)
      return {Code::kExists, shown +
                                 ": 'augurpack gc' took this run for a killed one, because it had written nothing for "
                                 "long, so what it has sent is removed again: run it anew"};
    who = "another packer has published " + (manifest.ok() ? "generation " + std::to_string(manifest->generation) +
                                                                 " (" + Printable(manifest->writer) + ")"
                                                           : std::string("something else"));
  }
  return {Code::kExists, shown + ": " + who +
                             " while this one was at work, so what it has sent is removed again: look at "
                             "the store with 'augurpack info', then append to it, or replace it with --force"};
}

Status RemoteGeneration::RemoveObjects(uint64_t first, uint64_t last) const {
  const auto is_in = [&](const ListedObject& object) {
    const std::optional<uint64_t> generation = GenerationOfObject(object.key);
    return generation && *generation >= first && *generation <= last;
  };
  // Uploads first: one that is completed meanwhile is in the list of objects.
  Status removed;
  const Result<std::vector<ListedObject>> uploads = writer_.ListUploads();
  // A user who may not list them may still have aborted them by their ids.
  if (!uploads.ok() && uploads.status().code() != Code::kPermission) removed = uploads.status();
  if (uploads.ok()) {
    for (const ListedObject& upload : *uploads) {
      if (!is_in(upload)) continue;
      const Status status = writer_.AbortUpload(upload.key, upload.upload_id);
      if (removed.ok()) removed = status;
    }
  }
  AUGUR_TRY_ASSIGN(objects, writer_.List());
  ClaimsLast(objects);
  for (const ListedObject& object : objects) {
    if (!is_in(object)) continue;
    const Status status = writer_.Remove(object.key);
    if (removed.ok()) removed = status;
  }
  return removed;
}

void RemoteGeneration::RemoveTraces() {
  Status removed;
  if (uploads_) removed = uploads_->Abort();
  uploads_.reset();
  writer_.IgnoreStop();
  const Status objects = RemoveObjects(generation(), generation());
  if (removed.ok()) removed = objects;
  if (removed.ok()) return;
  spdlog::warn("what was sent is not removed, which costs room, and which no reader sees (generation {}): {}",
               generation(), removed.text());
}

}  // namespace augur
