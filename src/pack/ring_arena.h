// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <span>

#include "augur/status.h"

namespace augur {

// RingArena is memory that is given back in the order in which it was taken. So a stream of files of any sizes goes
// round in the same few pages and never fragments them. One thread at a time; the bytes of a span belong to its taker
// until it is freed.
class RingArena {
 public:
  // kNoSpace: the system has no such memory.
  static Result<RingArena> Make(size_t bytes);
  RingArena(RingArena&& other) noexcept;
  RingArena& operator=(RingArena&&) = delete;
  ~RingArena();

  // `bytes` in one piece, or nothing when there is no room now. REQUIRES: bytes > 0.
  std::span<std::byte> Take(size_t bytes);
  // Gives back the oldest piece. REQUIRES: there is one.
  void FreeOldest();

  bool empty() const { return pieces_.empty(); }
  size_t capacity() const { return capacity_; }

 private:
  RingArena(std::byte* memory, size_t capacity) : memory_(memory), capacity_(capacity) {}
  struct Piece {
    size_t begin;
    size_t end;
  };
  std::byte* memory_;  // owned
  size_t capacity_;
  std::deque<Piece> pieces_;  // oldest first; at most capacity_ in all, kAlign or more each: then Take gives nothing
};

}  // namespace augur
