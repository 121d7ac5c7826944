// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_generation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "remote/publish_in_doubt.h"
#include "remote/remote_place.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/manifest.h"
#include "store/store_folder.h"

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
  AUGUR_TRY(made->Claim());
  AUGUR_TRY(made->claim_.Probe(/*replaces=*/!made->old_etag_.empty()));
  AUGUR_TRY_ASSIGN(uploads,
                   FileUploads::Start(made->writer_, [raw = made.get()](const std::string& name, uint64_t bytes) {
                     return raw->OnObject(name, bytes);
                   }));
  made->uploads_ = std::move(uploads);
  return made;
}

RemoteGeneration::~RemoteGeneration() {
  old_.reset();
  if (generation() == 0 || (keeps_objects_ && !lost_)) return;
  if (!options_.resume || lost_) {
    RemoveTraces();
    return;
  }
  const Status aborted = uploads_ ? uploads_->Abort() : Status::Ok();
  uploads_.reset();
  if (!aborted.ok()) spdlog::warn("an upload is not ended, which costs room: {}", aborted.text());
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

Status RemoteGeneration::Claim() {
  if (options_.resume) {
    AUGUR_TRY_ASSIGN(goes_on, GoOn());
    goes_on_ = goes_on;
    if (goes_on_) return Status::Ok();
  }
  AUGUR_TRY(claim_.Take(old_generation_));
  std::string claim = claim_.text();
  claim.resize(claim.find('\n'));
  AUGUR_TRY_ASSIGN(
      journal,
      SendJournal::Begin(options_.folder,
                         {.generation = generation(), .claim = std::move(claim), .old_etag = old_etag_, .sent = {}}));
  journal_.emplace(std::move(journal));
  return Status::Ok();
}

Result<bool> RemoteGeneration::GoOn() {
  std::optional<SendProgress> progress = SendJournal::Read(options_.folder);
  if (!progress || progress->old_etag != old_etag_ || progress->generation <= old_generation_) return false;
  const Status claimed = claim_.GoOn(progress->generation, progress->claim + "\n");
  if (claimed.code() == Code::kExists) return false;
  AUGUR_TRY(claimed);
  AUGUR_TRY(AbortUploads());
  std::vector<SentObject> believed;
  for (SentObject& object : progress->sent) {
    const std::optional<StoreFile> file = ClassifyStoreFile(object.name);
    if (!file || file->kind != StoreFileKind::kShard || file->generation != generation()) continue;
    const Result<SentObject> there = writer_.Look(object.name);
    if (!there.ok() && there.status().code() != Code::kNotFound) return there.status();
    const bool same = there.ok() && !object.etag.empty() && there->etag == object.etag && there->bytes == object.bytes;
    const Status brought = same ? BringCatalogue(object) : Status(Code::kCorrupt, "it is another one");
    if (brought.ok()) {
      left_[object.name] = object;
      believed.push_back(std::move(object));
      continue;
    }
    if (brought.code() != Code::kCorrupt) return brought;
    // The folder may have a part of it alone.
    if (::unlink((options_.folder + "/" + object.name).c_str()) != 0 && errno != ENOENT) {
      return ErrnoStatus(errno, Printable(object.name));
    }
    spdlog::warn("{}: not the object that was sent: it is packed again", writer_.ForLog(object.name));
  }
  progress->sent = std::move(believed);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error)) {
    kept_.insert(entry.path().filename().string());
  }
  if (error) return ErrnoStatus(error.value(), Printable(options_.folder));
  AUGUR_TRY_ASSIGN(journal, SendJournal::Begin(options_.folder, *progress));
  journal_.emplace(std::move(journal));
  return true;
}

Status RemoteGeneration::BringCatalogue(const SentObject& object) const {
  constexpr uint64_t kPieceBytes = 8 << 20;
  const auto stored = std::make_shared<StoredObject>(object.name, object.bytes, object.etag);
  format::ShardHeader header;
  format::ShardTrailer trailer;
  const auto no_shard = [&] { return Status(Code::kCorrupt, writer_.ForLog(object.name) + ": no shard"); };
  if (object.bytes < sizeof(header) + sizeof(trailer)) return no_shard();
  const uint64_t trailer_offset = object.bytes - sizeof(trailer);
  AUGUR_TRY(client_->ReadNow(stored, 0, std::as_writable_bytes(std::span(&header, 1))));
  AUGUR_TRY(client_->ReadNow(stored, trailer_offset, std::as_writable_bytes(std::span(&trailer, 1))));
  const uint64_t begin = trailer.catalogue_offset;
  if (begin < sizeof(header) || begin > trailer_offset) return no_shard();
  const std::string path = options_.folder + "/" + object.name;
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(object.bytes)) != 0) {
    return ErrnoStatus(errno, Printable(path));
  }
  AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(&header, 1)), 0));
  std::vector<std::byte> piece;
  for (uint64_t at = begin; at < object.bytes; at += piece.size()) {
    piece.resize(std::min(kPieceBytes, object.bytes - at));
    AUGUR_TRY(client_->ReadNow(stored, at, piece));
    AUGUR_TRY(WriteAt(fd.get(), path, piece, at));
  }
  return Status::Ok();
}

Status RemoteGeneration::OnObject(const std::string& name, uint64_t bytes) const {
  AUGUR_TRY_ASSIGN(there, writer_.Look(name));
  if (there.bytes != bytes) return {Code::kIo, writer_.ForLog(name) + ": was written by another program meanwhile"};
  AUGUR_CHECK(journal_.has_value());
  AUGUR_TRY(journal_->Add(there));
  if (kept_.contains(name)) return Status::Ok();
  const std::string path = options_.folder + "/" + name;
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status::Ok() : ErrnoStatus(errno, Printable(path));
}

Status RemoteGeneration::TakeLeft(const std::string& name, UniqueFd file, uint64_t bytes) {
  return left_.erase(name) > 0 ? Status::Ok() : Take(name, std::move(file), bytes);
}

Status RemoteGeneration::Take(const std::string& name, UniqueFd file, uint64_t bytes) {
  left_.erase(name);  // it is written anew
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
  if (const Status put = writer_.Put(kManifestName, Bytes(text), condition); !put.ok()) {
    const PublishInDoubt doubt(client_, writer_,
                               {.manifest = manifest, .old_generation = old_generation_, .claim = claim_.text()});
    AUGUR_TRY(doubt.Resolve(put, &lost_));
  }
  Status removed = claim_.Remove();
  for (const auto& [name, object] : left_) (void)writer_.Remove(name);  // that the killed run sent, and no entry needs
  if (generation() > old_generation_ + 1) {
    const Status others = RemoveObjects(old_generation_ + 1, generation() - 1);
    if (removed.ok()) removed = others;
  }
  if (goes_on_) {
    const Status aborted = AbortUploads();
    if (removed.ok()) removed = aborted;
  }
  if (!removed.ok()) spdlog::warn("the store is there, but what other packers left is not removed: {}", removed.text());
  return Status::Ok();
}

Status RemoteGeneration::AbortUploads() const {
  const Result<std::vector<ListedObject>> uploads = writer_.ListUploads();
  // A user who may not list them leaves them to the bucket's rule.
  if (!uploads.ok()) return uploads.status().code() == Code::kPermission ? Status::Ok() : uploads.status();
  for (const ListedObject& upload : *uploads) {
    if (GenerationOfObject(upload.key) == generation()) AUGUR_TRY(writer_.AbortUpload(upload.key, upload.upload_id));
  }
  return Status::Ok();
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
