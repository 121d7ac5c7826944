// SPDX-License-Identifier: Apache-2.0
#include "pack/ring_arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {
constexpr size_t kAlign = 64;  // a cache line: two readers never write to the same one
}

Result<RingArena> RingArena::Make(size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ErrnoStatus(errno, "memory for reading");
  // Advice only: without it each of the pages costs a fault when it is first touched.
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return RingArena(static_cast<std::byte*>(memory), bytes);
}

RingArena::RingArena(RingArena&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), capacity_(other.capacity_), pieces_(std::move(other.pieces_)) {}

RingArena::~RingArena() {
  if (memory_ != nullptr) ::munmap(memory_, capacity_);
}

std::span<std::byte> RingArena::Take(size_t bytes) {
  AUGUR_CHECK(bytes > 0);
  const size_t padded = (bytes + kAlign - 1) / kAlign * kAlign;
  size_t begin = 0;
  if (pieces_.empty()) {
    if (padded > capacity_) return {};
  } else {
    const size_t oldest = pieces_.front().begin;
    begin = pieces_.back().end;
    if (begin > oldest) {  // free: from the newest to the end, and from 0 to the oldest
      if (capacity_ - begin < padded) {
        if (oldest < padded) return {};
        begin = 0;
      }
    } else if (oldest - begin < padded) {
      return {};
    }
  }
  pieces_.push_back({.begin = begin, .end = begin + padded});
  return {memory_ + begin, bytes};
}

void RingArena::FreeOldest() {
  AUGUR_CHECK(!pieces_.empty());
  pieces_.pop_front();
}

}  // namespace augur
