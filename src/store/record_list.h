// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "store/index_reader.h"
#include "store/tree.h"

namespace augur {

// A regular file that has bytes, by where its record lies. 24 bytes, because there is one for each file: the size must
// be asked of the index.
struct ListedRecord {
  uint64_t offset = 0;
  uint64_t number = 0;  // of the entry
  uint32_t shard = 0;
  bool first = false;   // the first of those with the same shard, offset and size
  bool listed = false;  // named by the catalogue of its shard
};
static_assert(sizeof(ListedRecord) == 24);

// RecordList has the records of a tree in the order in which they lie in the shards. Files that share a record are
// neighbours, ordered by size and then by entry number.
// For reading, safe from any thread. The marks of one shard's records may be set while others are read.
class RecordList {
 public:
  // `count` is the number of files with bytes that VerifyTree found; entries that cannot be read are left out. Does not
  // own the tree, which must outlive it.
  RecordList(const Tree& tree, uint64_t count, int threads);

  std::span<const ListedRecord> keys() const { return keys_; }
  // Positions of the records in this shard: [first, second).
  std::pair<size_t, size_t> OfShard(uint32_t shard) const;
  // Position of the first key with this record; nullopt when the tree has none.
  std::optional<size_t> Find(uint32_t shard, uint64_t offset, uint64_t size) const;
  // Position after the last key that shares the record of `position`.
  size_t EndOfShared(size_t position) const;
  void MarkListed(size_t position) { keys_[position].listed = true; }

 private:
  uint64_t SizeOf(const ListedRecord& key) const;

  const Tree& tree_;
  std::vector<ListedRecord> keys_;
};

}  // namespace augur
