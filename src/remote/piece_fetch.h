// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "augur/status.h"
#include "base/aligned_memory.h"
#include "base/mutex.h"
#include "remote/wanted_range.h"
#include "store/shard_source.h"

namespace augur {

// PieceFetch reads blocks of a piece from the store's server, in as few requests as it can, into memory of its own.
// When the piece is larger than the memory, it takes several turns. For one thread; the source's threads only end
// reads.
class PieceFetch {
 public:
  // `on_read` is called on a thread of the source, when a turn has ended. REQUIRES: the source and what `on_read` uses
  // outlive the reads; `bytes` is RoomFor(kBlockBytes) at least.
  PieceFetch(ShardSource& source, uint64_t bytes, std::function<void()> on_read);
  PieceFetch(const PieceFetch&) = delete;
  PieceFetch& operator=(const PieceFetch&) = delete;

  // The bytes of memory that a range of `bytes` bytes takes.
  static uint64_t RoomFor(uint64_t bytes);

  // Takes blocks that are ordered by shard and offset. REQUIRES: it is idle.
  void Take(std::vector<WantedBlock> blocks);
  // Reads as many blocks as fit. False: none are left, and it is idle. REQUIRES: no turn is under way.
  bool BeginTurn() AUGUR_EXCLUDES(mu_);
  bool idle() const { return ranges_.empty(); }
  // The turn has ended: its blocks can be looked at.
  bool read() const AUGUR_EXCLUDES(mu_);
  // Gives the memory back. REQUIRES: it is idle.
  void Release() { memory_.reset(); }
  // The reads of this turn may fail.
  void Cancel() { source_.Cancel(this); }

  // The blocks of the turn that were read; they are not checked. REQUIRES: read().
  void ForEachBlock(const std::function<void(const WantedBlock&, std::span<const std::byte>)>& use) const;
  // The failure of a read of this turn; OK: there was none. REQUIRES: read().
  Status failure() const AUGUR_EXCLUDES(mu_);
  // What the turn has asked of the server. REQUIRES: read().
  uint64_t read_bytes() const AUGUR_EXCLUDES(mu_);
  // How long the turn took. REQUIRES: read().
  std::chrono::milliseconds took() const AUGUR_EXCLUDES(mu_);

 private:
  struct Range {
    uint32_t shard = 0;
    WantedRange wanted;
  };
  // A range of the turn, and where its bytes are.
  struct Part {
    std::byte* memory = nullptr;
    bool good = false;  // guarded by mu_ until the turn has ended
  };

  void OnRead(size_t part, const ShardReadResult& result) AUGUR_EXCLUDES(mu_);

  ShardSource& source_;
  const uint64_t bytes_;
  const std::function<void()> on_read_;
  AlignedMemory memory_;  // from the first turn on
  std::vector<Range> ranges_;
  size_t next_ = 0;  // the first range of ranges_ that no turn has had

  mutable Mutex mu_;
  std::vector<Part> parts_;  // of this turn, whose ranges end before next_
  size_t under_way_ AUGUR_GUARDED_BY(mu_) = 0;
  Status failure_ AUGUR_GUARDED_BY(mu_) = Status::Ok();
  uint64_t read_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  std::chrono::steady_clock::time_point begun_ AUGUR_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point ended_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
