// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// IndexBlocks holds blocks of an index in memory of this process. A block is read and checked once, into memory that no
// other process can write to, and then put here. Whatever happens to the file afterwards, a later use sees the bytes
// that were checked. A mapping of the file could not promise that (the kernel may drop a page and read it again).
//
// At most `bytes_max` bytes are held; beyond that a block that was not used lately leaves (CLOCK: F. J. Corbato, A
// Paging Experiment with the Multics System, 1968) and is read and checked anew at its next use. The blocks of `kept`
// never leave, because View hands out pointers into them. They count; where they leave less than a quarter of the
// maximum to the other blocks, those have a quarter.
//
// Safe from any thread. Memory is address space as large as all blocks, filled at first use. Not for knowing the
// contents of a block, or whether it is right: `read` does both.
class IndexBlocks {
 public:
  static constexpr size_t kBlockBytes = 65536;

  struct Range {
    uint64_t begin = 0;  // first block
    uint64_t end = 0;    // one past the last
    bool Has(uint64_t block) const { return block >= begin && block < end; }
  };
  // Fills `to`, kBlockBytes long, with a block that was checked. Called by several threads at once, also for one block.
  using Read = std::function<Status(uint64_t block, std::span<std::byte> to)>;

  // kNoSpace: the address space is limited to less (ulimit -v).
  static Result<std::unique_ptr<IndexBlocks>> Make(uint64_t block_count, Range kept, uint64_t bytes_max, Read read);
  ~IndexBlocks();
  IndexBlocks(const IndexBlocks&) = delete;
  IndexBlocks& operator=(const IndexBlocks&) = delete;

  // Copies [offset, offset + out.size()) of the blocks' bytes. Fails as `read` does. REQUIRES: inside the blocks.
  Status Copy(uint64_t offset, std::span<std::byte> out) const {
    if (bounded_ || !AllHeld(offset, out.size())) return CopySlowly(offset, out);
    CopyHeld(offset, out);
    return Status::Ok();
  }

  // The bytes in place; they stay as long as this. REQUIRES: inside the blocks of `kept`.
  Status View(uint64_t offset, uint64_t bytes, const std::byte** at) const {
    if (!AllHeld(offset, bytes)) AUGUR_TRY(Hold(offset, bytes));
    *at = memory_ + offset;
    return Status::Ok();
  }

  uint64_t held_bytes() const { return (kept_count_.load() + other_count_.load()) * kBlockBytes; }

 private:
  // Bits that threads set and clear.
  class BitSet {
   public:
    explicit BitSet(uint64_t count) : words_(std::make_unique<std::atomic<uint64_t>[]>(count / 64 + 1)) {}
    bool Has(uint64_t i) const { return ((words_[i / 64].load(std::memory_order_acquire) >> (i % 64)) & 1) != 0; }
    void Add(uint64_t i) { words_[i / 64].fetch_or(uint64_t{1} << (i % 64), std::memory_order_release); }
    void Remove(uint64_t i) { words_[i / 64].fetch_and(~(uint64_t{1} << (i % 64)), std::memory_order_release); }

   private:
    std::unique_ptr<std::atomic<uint64_t>[]> words_;
  };

  IndexBlocks(uint64_t block_count, Range kept, uint64_t bytes_max, Read read, std::byte* memory);

  bool AllHeld(uint64_t offset, uint64_t bytes) const {
    if (bytes == 0) return true;
    const uint64_t last = (offset + bytes - 1) / kBlockBytes;
    for (uint64_t block = offset / kBlockBytes; block <= last; ++block) {
      if (!held_->Has(block)) return false;
    }
    return true;
  }
  void CopyHeld(uint64_t offset, std::span<std::byte> out) const;
  Status CopySlowly(uint64_t offset, std::span<std::byte> out) const;
  Status CopyPiece(uint64_t block, uint64_t begin, std::span<std::byte> out) const;
  Status Hold(uint64_t offset, uint64_t bytes) const;
  void Put(uint64_t block, std::span<const std::byte> bytes) const;
  void MakeRoom() const;

  // The lock of a block's memory: held while the block is filled, evicted, or copied where it could be evicted.
  Mutex& LockOf(uint64_t block) const { return locks_[block % locks_.size()]; }

  // Constant after construction.
  const uint64_t block_count_;
  const Range kept_;
  const uint64_t count_max_;
  const bool bounded_;  // not all blocks have room: blocks may leave
  const Read read_;
  // block_count_ blocks. Written under LockOf; read under it, or without it where a held block cannot leave.
  std::byte* const memory_;

  // Own synchronization.
  const std::unique_ptr<BitSet> held_;
  const std::unique_ptr<BitSet> used_;             // since the hand passed; only where blocks may leave
  mutable std::atomic<uint64_t> kept_count_ = 0;   // held blocks of kept_
  mutable std::atomic<uint64_t> other_count_ = 0;  // held blocks that may leave
  mutable std::array<Mutex, 64> locks_;            // no two at once

  mutable Mutex hand_mu_{LockRank::kMiddle};
  mutable uint64_t hand_ AUGUR_GUARDED_BY(hand_mu_) = 0;
};

}  // namespace augur
