// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/duplicate_table.h"
#include "store/entry_spool.h"
#include "store/shard_series.h"

namespace augur {

// Where a record lies.
struct RecordPlace {
  uint32_t shard = kNoShard;
  uint64_t offset = 0;
  uint64_t first_block = 0;
  bool duplicate = false;  // it was there already
};

// RecordStore puts records into the series of own shards, each distinct one once: hash and size find a candidate, the
// stored bytes decide. Of a shard that was sent away, which cannot be read back at the speed of packing, the SHA-256
// decides: the same records are found as in a folder. One thread at a time; series, spools and table of shards are the
// caller's.
class RecordStore {
 public:
  RecordStore(ShardSeries& series, const ShardRows& shards, const EntrySpool& entries, BlockSpool& blocks)
      : series_(series), shards_(shards), entries_(entries), blocks_(blocks) {}

  // Stores a record, or finds it. REQUIRES: bytes is not empty, and has these hashes.
  Result<RecordPlace> Put(std::span<const std::byte> bytes, const RecordHashes& hashes);

  // The same for a record that was appended to the open shard from `offset` on, as `size` bytes; its blocks are in the
  // BlockSpool from `first_block` on. A duplicate is taken back from both.
  Result<RecordPlace> FinishRecord(uint64_t offset, uint64_t size, uint64_t first_block, const HashPair& hashes);

  // Makes the record of a spooled entry findable. True: a record in the same place was already.
  Result<bool> Remember(uint64_t entry_number);
  // The spooled entry that has its record in this very place, or nullptr.
  const SpoolEntry* AtPlace(const format::Hash& hash, uint64_t size, uint32_t shard, uint64_t offset) const;

  // Forgets what Remember was told, to give back its memory.
  void Forget() { table_.Clear(); }

 private:
  // True when the stored record of `entry` is exactly these bytes.
  bool Holds(const SpoolEntry& entry, std::span<const std::byte> bytes);
  Status ReadStored(uint32_t shard, uint64_t offset, std::span<std::byte> bytes);

  ShardSeries& series_;
  const ShardRows& shards_;
  const EntrySpool& entries_;
  BlockSpool& blocks_;
  DuplicateTable table_;

  // The older shard that was last compared with.
  uint32_t open_shard_ = kNoShard;
  UniqueFd open_fd_;
};

}  // namespace augur
