// SPDX-License-Identifier: Apache-2.0
#include "store/old_tree.h"

#include <string>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "store/entry_item.h"
#include "store/sha256.h"

namespace augur {
namespace {

// Walks the old index and spools what it finds.
class OldTreeLoader {
 public:
  OldTreeLoader(const Store& store, const ShardRows& shards, EntrySpool& entries, BlockSpool& blocks,
                RecordStore& records, const std::function<bool()>& stopped)
      : store_(store), shards_(shards), entries_(entries), blocks_(blocks), records_(records), stopped_(stopped) {}

  Status Load() {
    AUGUR_TRY_ASSIGN(root, store_.Get(0));
    AUGUR_TRY(Add(root, {}, Attributes::kNoPlace));
    struct Open {
      Entry folder;
      uint64_t next;
      size_t path_bytes;
    };
    std::vector<Open> open = {{root, 0, 0}};
    std::string path;
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.folder.size) {
        open.pop_back();
        continue;
      }
      AUGUR_TRY_ASSIGN(child, store_.Child(top.folder, top.next));
      uint64_t place = Attributes::kNoPlace;
      if (store_.summary().has_listing) {
        AUGUR_TRY_ASSIGN(listed, store_.ListingPlace(top.folder, top.next));
        place = listed;
      }
      ++top.next;
      path.resize(top.path_bytes);
      if (!path.empty()) path += '/';
      path += child.name;
      AUGUR_TRY(Add(child, path, place));
      if (child.type == EntryType::kDirectory) open.push_back({child, 0, path.size()});
    }
    return Status::Ok();
  }

 private:
  Status Add(const Entry& entry, std::string_view path, uint64_t place) {
    if (stopped_ && stopped_()) return {Code::kStopped, "stopped"};
    SpoolEntry spooled{.old = true, .mode = entry.mode & format::kPermissionMask};
    spooled.mtime_sec = entry.mtime_sec;
    spooled.mtime_nsec = entry.mtime_nsec;
    spooled.place = place;
    switch (entry.type) {
      case EntryType::kDirectory: spooled.kind = SpoolKind::kDirectory; return entries_.Add(spooled, path, {}).status();
      case EntryType::kSymlink: {
        spooled.kind = SpoolKind::kSymlink;
        AUGUR_TRY_ASSIGN(target, store_.LinkTarget(entry));
        return entries_.Add(spooled, path, target).status();
      }
      case EntryType::kFile: break;
    }
    spooled.shard = entry.shard;
    spooled.size = entry.size;
    spooled.offset = entry.offset;
    spooled.hash = {entry.hash.low, entry.hash.high};
    spooled.image = entry.image;
    spooled.foreign = entry.size > 0 && shards_[entry.shard].foreign;
    AUGUR_TRY(CarryHashes(entry, spooled));
    AUGUR_TRY_ASSIGN(number, entries_.Add(spooled, path, {}));
    return spooled.size == 0 || spooled.foreign ? Status::Ok() : records_.Remember(number).status();
  }

  // Digest and block hashes. Files that share a record go on sharing its block hashes.
  Status CarryHashes(const Entry& entry, SpoolEntry& spooled) {
    const SpoolEntry* same =
        entry.size == 0 ? nullptr : records_.AtPlace(spooled.hash, spooled.size, spooled.shard, spooled.offset);
    if (same != nullptr) {
      spooled.digest = same->digest;
      spooled.first_block = same->first_block;
      return Status::Ok();
    }
    const bool has_digests = store_.summary().root_hash.has_value();
    if (has_digests) {
      AUGUR_TRY_ASSIGN(digest, store_.RecordDigest(entry));
      spooled.digest = digest;
    }
    if (entry.size <= kBlockBytes) {
      if (has_digests) return Status::Ok();
      AUGUR_TRY_ASSIGN(digest, DigestByReading(entry, 0));
      spooled.digest = digest;
      return Status::Ok();
    }
    spooled.first_block = blocks_.count();
    RecordDigester digester;
    for (uint64_t block = 0; block < Store::BlockCount(entry); ++block) {
      AUGUR_TRY_ASSIGN(hash, store_.BlockHash(entry, block));
      AUGUR_TRY_ASSIGN(digest, has_digests ? store_.BlockDigest(entry, block) : DigestByReading(entry, block));
      const HashPair hashes{.hash = hash, .digest = digest};
      AUGUR_TRY(blocks_.Add({&hashes, 1}).status());
      digester.Add(digest);
    }
    if (!has_digests) spooled.digest = digester.Finish();
    return Status::Ok();
  }

  // Of a store of version 1, which has none: of bytes that match their XXH3-128.
  Result<Digest> DigestByReading(const Entry& entry, uint64_t block) {
    if (entry.size == 0) return Sha256({});
    bytes_.resize(Store::BlockBytes(entry, block));
    if (const Status read = store_.Read(entry, block, bytes_); !read.ok()) {
      return read.In("a store of version 1 is made one of version 2, which needs every record");
    }
    return Sha256(bytes_);
  }

  const Store& store_;
  const ShardRows& shards_;
  EntrySpool& entries_;
  BlockSpool& blocks_;
  RecordStore& records_;
  const std::function<bool()>& stopped_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Status LoadOldShards(const Store& store, ShardRows& shards) {
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store.Shard(number));
    shards.push_back(std::move(shard));
  }
  return Status::Ok();
}

Status LoadOldTree(const Store& store, const ShardRows& shards, EntrySpool& entries, BlockSpool& blocks,
                   RecordStore& records, const std::function<bool()>& stopped) {
  if (!store.summary().root_hash) {
    spdlog::info("{}: is of version 1 and becomes one of version 2: reading its records ({}) once, for their SHA-256",
                 store.path(), FormatSize(store.summary().record_bytes));
  }
  return OldTreeLoader(store, shards, entries, blocks, records, stopped).Load();
}

}  // namespace augur
