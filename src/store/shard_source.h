// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "augur/entry.h"
#include "augur/status.h"

namespace augur {

// What became of a read.
struct ShardReadResult {
  // OK: the bytes are there, not yet checked. kIo: it failed. Others: as StoreFiles::OpenShard; or
  // kCorrupt, when the shard ends before the bytes do. The text names the shard, the place and the cause.
  Status status;
  bool retryable = false;   // of a failure: a smaller read, or the same one later, may succeed
  uint64_t skip = 0;        // the first byte that was wanted is at memory + skip
  uint32_t reads = 0;       // requests that were made of the disk or server, and
  uint64_t read_bytes = 0;  // what they brought
};

// A block of a record.
struct WantedBlock {
  Entry file;
  uint64_t block = 0;
};

// One read of a range of a shard. `done` is called exactly once, on a thread of the source or before Read returns; it
// must not block and may begin further reads. `memory` is the caller's and must stay until then.
struct ShardRead {
  uint32_t shard = 0;
  uint64_t offset = 0;  // in the shard
  uint64_t bytes = 0;
  // The blocks in the range that are wanted, in the order of their offsets, and of no other bytes. They stay until
  // `done` is called. Empty: all of the range is wanted.
  std::span<const WantedBlock> blocks = {};
  std::byte* memory = nullptr;  // ShardSource::RoomFor(bytes), at a multiple of ShardSource::kMargin
  bool again = false;           // the same read brought bytes whose checksum is wrong: by another way, if there is one
  const void* tag = nullptr;    // names the read to Hurry, with its parts; no other that is under way has it
  std::function<void(const ShardReadResult&)> done;
};

// ShardSource brings ranges of shards from where they are kept, many at a time. Where that is, by what calls, and what
// these want of offsets and memory, is known to its bodies alone (LocalShards). Safe from any thread; Read never waits
// for the disk or for a server. It checks nothing: the caller compares the bytes with the index.
class ShardSource {
 public:
  // A body may read this much more on each side of a range: the coarsest alignment of an O_DIRECT read (kAlignMax).
  static constexpr uint64_t kMargin = 4096;
  // The memory that a read takes.
  static constexpr uint64_t RoomFor(uint64_t bytes) { return bytes + 2 * kMargin; }

  virtual ~ShardSource() = default;
  // REQUIRES: the shard exists in the store, and the range lies within it, as the index says.
  virtual void Read(ShardRead read) = 0;
  // A reader waits from now on for the read with this tag. Without effect if it has ended, and where it would not end
  // sooner.
  virtual void Hurry(const void* /*tag*/) {}
  // The bytes of the read with this tag are not wanted any more: it may fail with kStopped. Without effect if it has
  // ended, and where it ends soon by itself.
  virtual void Cancel(const void* /*tag*/) {}
  // Whether the same read may bring other bytes the next time, because they come from a server.
  virtual bool may_differ() const { return false; }
  // After the last Read: waits until each has reached the disk or server, or has ended.
  virtual void Drain() = 0;
};

}  // namespace augur
