// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_generation.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <span>
#include <utility>

#include "base/log.h"
#include "base/units.h"
#include "remote/remote_place.h"
#include "s3/utc_time.h"
#include "store/manifest.h"
#include "store/store_folder.h"

namespace augur {
namespace {

constexpr std::string_view kClaimPrefix = "writer-";
// Each attempt that fails is another packer that began in the same second.
constexpr int kClaimsMax = 100;
// No object has it: an ETag of S3 is an MD5, or ends in the number of parts.
constexpr const char* kWrongETag = "\"augurpack-probe\"";

std::string ClaimText(const std::string& writer) {
  std::random_device random;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::array<char, 33> id{};
  std::snprintf(id.data(), id.size(), "%08x%08x%08x%08x", random(), random(), random(), random());
  return writer + " on " + host.data() + ", process " + std::to_string(::getpid()) + ", since " + IsoTime(UtcNow()) +
         ", " + id.data() + "\n";
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

uint64_t NewestOf(const std::vector<ListedObject>& objects) {
  uint64_t newest = 0;
  for (const ListedObject& object : objects) newest = std::max(newest, GenerationOfObject(object.key).value_or(0));
  return newest;
}

}  // namespace

std::string ClaimName(uint64_t generation) {
  return std::string(kClaimPrefix) + IndexName(generation).substr(std::string_view("index-").size());
}

std::optional<uint64_t> GenerationOfObject(const std::string& name) {
  std::string known = name;
  // A claim has the digits of an index.
  if (name.starts_with(kClaimPrefix)) known.replace(0, kClaimPrefix.size(), "index-");
  const std::optional<StoreFile> file = ClassifyStoreFile(known);
  if (!file || file->generation == 0) return std::nullopt;
  return file->generation;
}

RemoteGeneration::RemoteGeneration(std::shared_ptr<ObjectClient> client, Options options)
    : client_(std::move(client)),
      options_(std::move(options)),
      claim_(ClaimText(options_.writer)),
      writer_(client_, options_.stopped) {}

Result<std::unique_ptr<RemoteGeneration>> RemoteGeneration::Begin(std::shared_ptr<ObjectClient> client,
                                                                  Options options) {
  std::unique_ptr<RemoteGeneration> made(new RemoteGeneration(std::move(client), std::move(options)));
  AUGUR_TRY(made->ReadManifest());
  if (made->options_.mode == WriteMode::kAppend) AUGUR_TRY(made->OpenOld());
  AUGUR_TRY(made->Claim());
  AUGUR_TRY(made->Probe());
  AUGUR_TRY_ASSIGN(uploads, FileUploads::Start(made->writer_));
  made->uploads_ = std::move(uploads);
  return made;
}

RemoteGeneration::~RemoteGeneration() {
  old_.reset();
  if (generation_ > 0 && !keeps_objects_) RemoveTraces();
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

Status RemoteGeneration::TryClaim(uint64_t generation, bool* mine) {
  const std::string name = ClaimName(generation);
  Status put = writer_.Put(name, Bytes(claim_), PutCondition::IfNew());
  *mine = put.ok();
  if (put.code() != Code::kExists) return put;
  // It may be ours, when the answer to an earlier attempt was lost.
  const Result<std::string> there = writer_.Get(name, nullptr);
  *mine = there.ok() && *there == claim_;
  return there.ok() || there.status().code() == Code::kNotFound ? Status::Ok() : there.status();
}

Status RemoteGeneration::Claim() {
  for (int attempt = 0; attempt < kClaimsMax; ++attempt) {
    AUGUR_TRY_ASSIGN(before, writer_.List());
    const uint64_t next = std::max(NewestOf(before), old_generation_) + 1;
    if (next > kGenerationMax) return {Code::kInvalid, writer_.ForLog() + ": no generation number is left"};
    bool mine = false;
    if (Status status = TryClaim(next, &mine); !status.ok()) {
      // The request may have had its effect all the same.
      writer_.IgnoreStop();
      const Result<std::string> there = writer_.Get(ClaimName(next), nullptr);
      if (there.ok() && *there == claim_) (void)writer_.Remove(ClaimName(next));
      return status;
    }
    if (!mine) continue;
    // A packer that had this generation may have published it, and given up its claim, since the list.
    const Result<std::vector<ListedObject>> after = writer_.List();
    const bool taken = after.ok() && std::any_of(after->begin(), after->end(), [next](const ListedObject& object) {
                         return object.key != ClaimName(next) && GenerationOfObject(object.key) == next;
                       });
    if (after.ok() && !taken) {
      generation_ = next;
      return Status::Ok();
    }
    AUGUR_TRY(writer_.Remove(ClaimName(next)));
    if (!after.ok()) return after.status();
  }
  return {Code::kBusy, writer_.ForLog() + ": other packers claim each generation: try again later"};
}

Status RemoteGeneration::Probe() const {
  const bool replaces = !old_etag_.empty();
  const PutCondition condition = replaces ? PutCondition::IfSame(kWrongETag) : PutCondition::IfNew();
  Status put = writer_.Put(ClaimName(generation_), Bytes(claim_), condition);
  if (put.code() == Code::kExists) return Status::Ok();
  if (!put.ok() && put.code() != Code::kUnsupported) return put;
  return {Code::kUnsupported,
          writer_.ForLog() + ": this server ignores conditions (" + (replaces ? "If-Match" : "If-None-Match") +
              "), so two packers could destroy each other's store: pack into a folder, and copy that into the bucket"};
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
      return {published.code(), published.text() + ": whether generation " + std::to_string(generation_) +
                                    " was published is not known: see 'augurpack info', and run the same command again "
                                    "if it was not"};
    }
  }
  Status removed = writer_.Remove(ClaimName(generation_));
  if (generation_ > old_generation_ + 1) {
    const Status others = RemoveObjects(old_generation_ + 1, generation_ - 1);
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
  // The claims last: while they stand, no packer takes the generation.
  std::stable_partition(objects.begin(), objects.end(),
                        [](const ListedObject& object) { return !object.key.starts_with(kClaimPrefix); });
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
  const Status objects = RemoveObjects(generation_, generation_);
  if (removed.ok()) removed = objects;
  if (removed.ok()) return;
  spdlog::warn("what was sent is not removed, which costs room, and which no reader sees (generation {}): {}",
               generation_, removed.text());
}

}  // namespace augur
