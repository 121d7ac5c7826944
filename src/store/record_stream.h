// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/entry.h"
#include "augur/status.h"
#include "store/entry_spool.h"
#include "store/hash.h"
#include "store/record_store.h"
#include "store/shard_series.h"

namespace augur {

// RecordStream takes one record in pieces, straight into the open shard, and hashes it and its blocks on the way.
// One thread at a time; memory does not grow with the record. Not for records that are in memory: RecordStore::Put.
class RecordStream {
 public:
  RecordStream(ShardSeries& series, RecordStore& records, BlockSpool& blocks)
      : series_(series), records_(records), blocks_(blocks) {}

  // True between Begin and End or Abandon.
  bool active() const { return active_; }
  uint64_t size() const { return size_; }
  // Hash of the bytes so far.
  Hash128 Digest() const { return record_hash_.Digest(); }

  // REQUIRES: !active().
  void Begin();
  // The following REQUIRE: active().
  Status Write(std::span<const std::byte> bytes);
  // Where the record is now; a duplicate has been taken back. Without bytes there is no place.
  Result<RecordPlace> End();
  // Takes back what was written.
  Status Abandon();

 private:
  Status EndBlock();

  ShardSeries& series_;
  RecordStore& records_;
  BlockSpool& blocks_;
  bool active_ = false;
  uint64_t offset_ = 0;  // in the shard; good when size_ > 0
  uint64_t size_ = 0;
  uint64_t first_block_ = 0;
  uint64_t block_bytes_ = 0;  // of the block that is being filled
  Hasher128 record_hash_;
  Hasher128 block_hash_;
};

}  // namespace augur
