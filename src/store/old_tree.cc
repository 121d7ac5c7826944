// SPDX-License-Identifier: Apache-2.0
#include "store/old_tree.h"

#include <string>
#include <vector>

#include "store/entry_item.h"

namespace augur {
namespace {

// Walks the old index and spools what it finds.
class OldTreeLoader {
 public:
  OldTreeLoader(const Store& store, const ShardRows& shards, EntrySpool& entries, BlockSpool& blocks,
                RecordStore& records)
      : store_(store), shards_(shards), entries_(entries), blocks_(blocks), records_(records) {}

  Status Load() {
    AUGUR_TRY_ASSIGN(root, store_.Get(0));
    AUGUR_TRY(Add(root, {}));
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
      ++top.next;
      path.resize(top.path_bytes);
      if (!path.empty()) path += '/';
      path += child.name;
      AUGUR_TRY(Add(child, path));
      if (child.type == EntryType::kDirectory) open.push_back({child, 0, path.size()});
    }
    return Status::Ok();
  }

 private:
  Status Add(const Entry& entry, std::string_view path) {
    SpoolEntry spooled{.old = true, .mode = entry.mode & format::kPermissionMask};
    spooled.mtime_sec = entry.mtime_sec;
    spooled.mtime_nsec = entry.mtime_nsec;
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
    AUGUR_TRY(CarryBlocks(entry, spooled));
    AUGUR_TRY_ASSIGN(number, entries_.Add(spooled, path, {}));
    return spooled.size == 0 || spooled.foreign ? Status::Ok() : records_.Remember(number).status();
  }

  // Files that share a record go on sharing its block hashes.
  Status CarryBlocks(const Entry& entry, SpoolEntry& spooled) {
    const uint64_t count = BlockHashCount(entry.size);
    if (count == 0) return Status::Ok();
    const SpoolEntry* same = records_.AtPlace(spooled.hash, spooled.size, spooled.shard, spooled.offset);
    if (same != nullptr) {
      spooled.first_block = same->first_block;
      return Status::Ok();
    }
    spooled.first_block = blocks_.count();
    for (uint64_t block = 0; block < count; ++block) {
      AUGUR_TRY_ASSIGN(hash, store_.BlockHash(entry, block));
      AUGUR_TRY(blocks_.Add({&hash, 1}).status());
    }
    return Status::Ok();
  }

  const Store& store_;
  const ShardRows& shards_;
  EntrySpool& entries_;
  BlockSpool& blocks_;
  RecordStore& records_;
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
                   RecordStore& records) {
  return OldTreeLoader(store, shards, entries, blocks, records).Load();
}

}  // namespace augur
