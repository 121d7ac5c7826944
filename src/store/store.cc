// SPDX-License-Identifier: Apache-2.0
#include "augur/store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/hash.h"
#include "store/identity.h"
#include "store/local_files.h"
#include "store/open_index.h"
#include "store/sha256.h"
#include "store/shard_table.h"
#include "store/tree.h"

namespace augur {

struct Store::Parts {
  Parts(std::string path_in, const StoreOptions& options, OpenedIndex opened_in)
      : path(std::move(path_in)),
        index_bytes_max(options.index_bytes_max),
        opened(std::move(opened_in)),
        tree(opened.index.get()),
        is_pinned(options.root_hash.has_value()) {}

  // Whether `bytes` are the block's, by SHA-256 or by XXH3-128.
  Status Check(const Entry& file, uint64_t block, std::span<const std::byte> bytes, bool by_digest) const;

  const std::string path;
  const uint64_t index_bytes_max;
  const OpenedIndex opened;
  const Tree tree;
  const bool is_pinned;
  StoreSummary summary;
  StoreIdentity identity;
};

namespace {

StoreSummary Summarize(const OpenedIndex& opened) {
  const CheckedHeader& checked = opened.index->header();
  const format::IndexHeader& header = checked.fields();
  return {.generation = header.generation,
          .entry_count = header.entry_count,
          .file_count = header.file_count,
          .directory_count = header.directory_count,
          .symlink_count = header.symlink_count,
          .image_count = header.image_count,
          .tree_bytes = header.tree_bytes,
          .record_bytes = header.record_bytes,
          .index_bytes = header.file_bytes,
          .shard_count = header.shard_count,
          // The manifest tells who wrote its own generation only.
          .writer = opened.manifest.generation == header.generation ? opened.manifest.writer : std::string(),
          .index_id = checked.Id(),
          .version = header.version,
          .root_hash = checked.RootHash(),
          .has_listing = opened.index->Has(format::SectionId::kListing)};
}

}  // namespace

Status Store::Parts::Check(const Entry& file, uint64_t block, std::span<const std::byte> bytes, bool by_digest) const {
  AUGUR_CHECK(bytes.size() == BlockBytes(file, block));
  bool matches = false;
  if (by_digest) {
    AUGUR_TRY_ASSIGN(expected, tree.BlockDigest(file, block));
    matches = Sha256(bytes) == expected;
  } else {
    AUGUR_TRY_ASSIGN(expected, tree.BlockHash(file, block));
    matches = HashBytes128(bytes) == expected;
  }
  if (matches) return Status::Ok();
  AUGUR_TRY_ASSIGN(shard, LoadShard(*opened.index, path, file.shard));
  return file.size > kBlockBytes ? tree.ChecksumMismatch(shard.locator, file, block)
                                 : tree.ChecksumMismatch(shard.locator, file);
}

Result<std::shared_ptr<const Store>> Store::Open(const std::string& path, const StoreOptions& options) {
  return Open(LocalPlace(path, options), options);
}

Result<std::shared_ptr<const Store>> Store::Open(const StorePlace& place, const StoreOptions& options) {
  AUGUR_TRY_ASSIGN(opened, OpenIndex(place, options));
  auto parts = std::make_unique<Parts>(place.path(), options, std::move(opened));
  parts->summary = Summarize(parts->opened);
  parts->identity = StoreIdentity(parts->opened.files->index_place(), parts->summary.index_id);
  if (const Result<Entry> root = parts->tree.Get(0); !root.ok()) return root.status().In(place.path());
  return std::shared_ptr<const Store>(new Store(std::move(parts)));
}

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::~Store() = default;

const StoreSummary& Store::summary() const { return parts_->summary; }
const std::string& Store::path() const { return parts_->path; }

Result<Entry> Store::Get(uint64_t number) const { return parts_->tree.Get(number); }
Result<Entry> Store::Lookup(const Entry& directory, std::string_view name) const {
  return parts_->tree.Lookup(directory, name);
}
Result<Entry> Store::Child(const Entry& directory, uint64_t position) const {
  return parts_->tree.Child(directory, position);
}
Result<uint64_t> Store::ListedPosition(const Entry& directory, uint64_t place) const {
  return parts_->tree.ListedPosition(directory, place);
}
Result<uint64_t> Store::ListingPlace(const Entry& directory, uint64_t position) const {
  return parts_->tree.ListingPlace(directory, position);
}
Result<Entry> Store::Find(std::string_view path) const { return parts_->tree.Find(path); }
Result<std::string> Store::PathOf(uint64_t number) const { return parts_->tree.PathOf(number); }
Result<std::string_view> Store::LinkTarget(const Entry& link) const { return parts_->tree.LinkTarget(link); }

uint64_t Store::BlockCount(const Entry& file) { return file.size == 0 ? 0 : (file.size - 1) / kBlockBytes + 1; }

uint64_t Store::BlockBytes(const Entry& file, uint64_t block) {
  AUGUR_CHECK(block < BlockCount(file));
  return std::min(kBlockBytes, file.size - block * kBlockBytes);
}

Result<Hash128> Store::BlockHash(const Entry& file, uint64_t block) const {
  return parts_->tree.BlockHash(file, block);
}

Result<Digest> Store::BlockDigest(const Entry& file, uint64_t block) const {
  return parts_->tree.BlockDigest(file, block);
}
Result<Digest> Store::RecordDigest(const Entry& file) const { return parts_->tree.RecordDigest(file); }

Result<Hash128> Store::BlockIdentity(const Entry& file, uint64_t block) const {
  AUGUR_CHECK(block < BlockCount(file));
  if (!parts_->tree.has_digests()) return parts_->identity.OfBlock(file, block);
  AUGUR_TRY_ASSIGN(digest, BlockDigest(file, block));
  return IdentityOf(digest, BlockBytes(file, block));
}

Status Store::CheckIdentity(const Entry& file, uint64_t block, std::span<const std::byte> bytes) const {
  return parts_->Check(file, block, bytes, parts_->tree.has_digests());
}

Result<std::shared_ptr<const StoredFile>> Store::OpenShard(uint32_t number) const {
  AUGUR_TRY_ASSIGN(info, Shard(number));
  return files().OpenShard(info);
}

Status Store::Check(const Entry& file, uint64_t block, std::span<const std::byte> bytes) const {
  return parts_->Check(file, block, bytes, parts_->is_pinned);
}

Status Store::Read(const Entry& file, uint64_t block, std::span<std::byte> bytes) const {
  AUGUR_TRY_ASSIGN(shard, OpenShard(file.shard));
  AUGUR_CHECK(bytes.size() == BlockBytes(file, block));
  AUGUR_TRY(shard->ReadAt(bytes, file.offset + block * kBlockBytes));
  return Check(file, block, bytes);
}

Result<ShardInfo> Store::Shard(uint32_t number) const {
  AUGUR_CHECK(number < parts_->summary.shard_count);
  return LoadShard(*parts_->opened.index, parts_->path, number);
}

const StoreFiles& Store::files() const { return *parts_->opened.files; }

uint64_t Store::HeldIndexBytes() const { return parts_->opened.index->held_bytes(); }
uint64_t Store::IndexBytesMax() const { return std::min(parts_->index_bytes_max, parts_->summary.index_bytes); }

}  // namespace augur
