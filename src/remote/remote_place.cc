// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_place.h"

#include <spdlog/spdlog.h>

#include <optional>

#include "base/units.h"
#include "remote/index_copy.h"
#include "remote/remote_files.h"
#include "store/format.h"
#include "store/sha256.h"

namespace augur {
namespace {

// The index of this size and name. One of an older generation is not in the manifest: its size is asked for.
Result<uint64_t> SizeOf(ObjectClient& client, const std::shared_ptr<StoredObject>& index) {
  std::array<std::byte, 1> byte{};
  AUGUR_TRY(client.ReadNow(index, 0, byte));
  const std::optional<uint64_t> bytes = index->bytes();
  if (bytes) return *bytes;
  return Status(Code::kUnsupported, client.ForLog(index->name()) + ": the server does not say how long it is");
}

// Two stores of version 1 may have the same hashes; the address and the version of the object tell them apart.
IndexPlace PlaceOf(const std::string& address, const StoredObject& index) {
  const std::string text = address + "\n" + index.name() + "\n" + index.etag();
  const Digest digest = Sha256(std::as_bytes(std::span(text)));
  IndexPlace place;
  std::memcpy(place.words.data(), &digest, sizeof(digest));
  return place;
}

// Of a part of the index. To who asks the index for a name, kNotFound would mean that there is no such name.
Status AsFailedRead(const Status& status) {
  switch (status.code()) {
    case Code::kNotFound:
    case Code::kInvalid:
    case Code::kBusy: return {Code::kIo, status.text()};
    default: return status;
  }
}

}  // namespace

Result<StorePlace::Opened> RemotePlace::Open(uint64_t generation) const {
  const auto manifest_object = std::make_shared<StoredObject>(kManifestName);
  const Result<std::string> text = client_->FetchText(manifest_object);
  if (!text.ok() && text.status().code() == Code::kNotFound) {
    const std::string_view doubt =
        client_->place().is_s3()
            ? " (or no right to list the bucket, without which a server may not say what is missing)"
            : "";
    return Status(Code::kNotFound, text.status().text() + ": there is no store" + std::string(doubt) +
                                       ": 'augurpack create SRC STORE' makes one, and STORE is its address");
  }
  if (!text.ok()) return text.status();
  Result<Manifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return manifest.status().In(kManifestName);
  Opened opened{.manifest = *std::move(manifest), .files = nullptr};
  const bool current = generation == 0 || generation == opened.manifest.generation;
  const std::string name = IndexName(current ? opened.manifest.generation : generation);
  const auto index = std::make_shared<StoredObject>(
      name, current ? std::optional<uint64_t>(opened.manifest.index_bytes) : std::nullopt);
  uint64_t bytes = opened.manifest.index_bytes;
  if (!current) {
    const Result<uint64_t> asked = SizeOf(*client_, index);
    if (!asked.ok() && asked.status().code() == Code::kNotFound) return opened;
    if (!asked.ok()) return asked.status();
    bytes = *asked;
  }
  // A generation that is not the manifest's has no id before it is read, so its copy is not kept.
  const std::string path = copies_.empty() || !current ? std::string() : copies_ + "/index-" + opened.manifest.index_id;
  const auto fetch = [client = client_, index](std::span<std::byte> out, uint64_t offset, bool again) {
    return AsFailedRead(client->ReadNow(index, offset, out, again));
  };
  Result<std::shared_ptr<IndexCopy>> copy = IndexCopy::Open(name, bytes, path, fetch);
  if (!copy.ok() && !path.empty()) {
    spdlog::warn("the index is not kept for the next mount: {}", copy.status().text());
    copy = IndexCopy::Open(name, bytes, "", fetch);
  }
  if (!copy.ok()) return copy.status();
  opened.files = std::make_unique<RemoteFiles>(client_, *std::move(copy), PlaceOf(path_, *index));
  return opened;
}

Status RemotePlace::Allows(const ShardInfo& info) const { return AllowedObjectName(*client_, info).status(); }

}  // namespace augur
