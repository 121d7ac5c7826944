// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "store/entry_spool.h"
#include "store/hash.h"
#include "store/record_store.h"
#include "store/sha256.h"
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

  // REQUIRES: !active().
  void Begin();
  // The following REQUIRE: active().
  Status Write(std::span<const std::byte> bytes);
  // The same for bytes whose blocks a caller has hashed, one item for each block of kBlockBytes; the last block of the
  // record may be shorter. REQUIRES: the bytes written before are whole blocks.
  Status Write(std::span<const std::byte> bytes, std::span<const HashPair> blocks);
  // The hashes of the record, to which nothing can be added any more.
  Result<HashPair> Finish();
  // Where the record is now; a duplicate has been taken back. Without bytes there is no place. REQUIRES: Finish.
  Result<RecordPlace> End();
  // Takes back the bytes that were written.
  Status Abandon();

 private:
  Status Append(std::span<const std::byte> bytes);
  Status EndBlock();
  Status AddBlock(const HashPair& hashes);

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
  Sha256Hasher block_digest_;
  RecordDigester record_digest_;
  HashPair last_block_;  // the latest that is whole
  HashPair hashes_;      // of the record, from Finish on
};

}  // namespace augur
