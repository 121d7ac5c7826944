// SPDX-License-Identifier: Apache-2.0
#include "base/recycled_memory.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <new>

#include "base/mutex.h"

namespace augur {
namespace {

constexpr std::align_val_t kAlign{4096};
// Below this, the system's allocator keeps what is freed by itself.
constexpr size_t kSmallest = size_t{64} << 10;
// Up to this, a piece serves what needs half of it, too: of two dozen there is nearly always one, where one in three
// was missing as each served its own size only.
constexpr size_t kSmall = size_t{4} << 20;
// Four sizes between a power of two and the next.
constexpr int kStepBits = 2;

struct Idle {
  void* piece;
  size_t bytes;
};

class Pieces {
 public:
  static Pieces& Get() {
    static auto* const pieces = new Pieces();  // never destroyed: static objects may hold pieces
    return *pieces;
  }

  void KeepAtMost(size_t bytes) {
    std::deque<Idle> over;
    {
      const MutexLock lock(mu_);
      bytes_max_ = bytes;
      over = TakeOver();
    }
    Free(over);
  }

  size_t idle_bytes() {
    const MutexLock lock(mu_);
    return idle_bytes_;
  }

  // No piece: there is none.
  Idle Take(size_t bytes) {
    const MutexLock lock(mu_);
    const size_t bytes_max = bytes <= kSmall ? 2 * bytes : bytes;
    auto best = idle_.end();
    for (auto at = idle_.begin(); at != idle_.end(); ++at) {
      // Of equals the one that was given back last, which is most likely still in a processor's cache.
      if (at->bytes >= bytes && at->bytes <= bytes_max && (best == idle_.end() || at->bytes <= best->bytes)) best = at;
    }
    if (best == idle_.end()) return {nullptr, bytes};
    const Idle taken = *best;
    idle_.erase(best);
    idle_bytes_ -= taken.bytes;
    return taken;
  }

  void GiveBack(void* piece, size_t bytes) {
    std::deque<Idle> over;
    {
      const MutexLock lock(mu_);
      idle_.push_back({piece, bytes});
      idle_bytes_ += bytes;
      over = TakeOver();
    }
    Free(over);
  }

  static void Free(const std::deque<Idle>& pieces) {
    for (const Idle& one : pieces) ::operator delete[](one.piece, kAlign);
  }

 private:
  std::deque<Idle> TakeOver() AUGUR_REQUIRES(mu_) {
    std::deque<Idle> over;
    while (idle_bytes_ > bytes_max_) {
      idle_bytes_ -= idle_.front().bytes;
      over.push_back(idle_.front());
      idle_.pop_front();
    }
    return over;
  }

  Mutex mu_;
  // In the order in which they were given back: at most bytes_max_ in all, kSmallest or more each. Beyond, the oldest
  // are freed.
  std::deque<Idle> idle_ AUGUR_GUARDED_BY(mu_);
  size_t idle_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  size_t bytes_max_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace

void RecycledMemory::KeepAtMost(size_t bytes) { Pieces::Get().KeepAtMost(bytes); }

size_t RecycledMemory::idle_bytes() { return Pieces::Get().idle_bytes(); }

size_t RecycledMemory::PieceBytes(size_t bytes) {
  if (bytes < kSmallest) return bytes;
  const size_t step = size_t{1} << (std::bit_width(bytes) - 1 - kStepBits);
  return (bytes + step - 1) / step * step;
}

void* RecycledMemory::TakePiece(size_t* piece_bytes) {
  if (*piece_bytes >= kSmallest) {
    const Idle idle = Pieces::Get().Take(*piece_bytes);
    *piece_bytes = idle.bytes;
    if (idle.piece != nullptr) return idle.piece;
  }
  return ::operator new[](*piece_bytes, kAlign);
}

void RecycledMemory::GiveBack::operator()(void* piece) const {
  if (piece == nullptr || borrowed) return;
  if (bytes < kSmallest) return ::operator delete[](piece, kAlign);
  Pieces::Get().GiveBack(piece, bytes);
}

}  // namespace augur
