// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "augur/store.h"
#include "cache/retained_cache.h"
#include "prefetch/view_file.h"

namespace augur {

// RetainedBlocks is the retained cache by files instead of by blocks. Safe from any thread. REQUIRES: store and
// retained cache outlive it.
//
// A block in memory of this process is named by its place in the store, one in shared memory by Store::BlockIdentity.
// A hash of its bytes can be forged: by that, one store could put its bytes in the place of another's. A block that was
// rendered from a record (ViewFile::rendered) is named by ViewFile::hash, which cannot be forged either.
//
// What goes into shared memory has passed Store::CheckIdentity in this process, and what comes from there is checked by
// it again, whoever has put it in. The store knows nothing of a block that was rendered from a record, so such a block
// has its own XXH3-64 behind it in the retained cache. That tells damage, not a forgery by another user of a cache
// group.
class RetainedBlocks {
 public:
  RetainedBlocks(const Store& store, RetainedCache& retained_cache) : store_(store), retained_cache_(retained_cache) {}

  // Whether every block of the file is there. Takes no lock: another thread or process may be about to change that.
  bool Contains(const ViewFile& file) const;
  // Puts all blocks in. False: there was no room for all of them, and none of this file's are there.
  bool Insert(const ViewFile& file, std::span<const std::span<const std::byte>> blocks);
  // False: some block is in use, and stays.
  bool Erase(const ViewFile& file);
  // A block, checked; nothing when it is not there.
  std::optional<RetainedCache::Pin> Find(const ViewFile& file, uint64_t block);
  // Stands for a block in a list of many: two have the same by an accident of 2^-64. Nothing: the index cannot be read.
  std::optional<uint64_t> MarkOf(const ViewFile& file, uint64_t block) const;
  // Evicts blocks whose mark is not in `known`, as RetainedCache::EvictUnknown does. Returns the room that was freed.
  uint64_t EvictUnknown(uint64_t bytes, std::vector<uint64_t> known);
  // Puts one block in, if there is room.
  void InsertBlock(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes);

  RetainedCache& retained_cache() { return retained_cache_; }

 private:
  std::optional<RetainedCacheKey> KeyOf(const ViewFile& file, uint64_t block) const;
  bool EraseBlock(const ViewFile& file, uint64_t block);
  RetainedCache::Inserted Put(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes);
  bool IsRight(const ViewFile& file, uint64_t block, RetainedCache::Pieces pieces) const;

  // Own synchronization.
  const Store& store_;
  RetainedCache& retained_cache_;
};

}  // namespace augur
