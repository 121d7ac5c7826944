// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "cache/retained_cache_layout.h"

namespace augur {

// RetainedCacheLock shuts other processes out of a file, and tells which daemons are alive. Both are locks on single
// bytes (F_OFD_SETLK). The kernel takes them back when the last descriptor of that open() is closed, however a process
// ends. Process numbers, which mean nothing across namespaces, play no part. Byte 0 is the lock of the tables, byte 1 +
// i belongs to the daemon in slot i for as long as it lives. One thread at a time. Does not own the descriptor.
class RetainedCacheLock {
 public:
  static constexpr unsigned kSlots = kRetainedCacheSlots;

  explicit RetainedCacheLock(int fd = -1) : fd_(fd) {}  // -1: memory of one process; every call is granted

  // How long, and how often, one caller tries. A holder needs a few us, so others first try again at once (0.2 us a
  // try). They sleep only when the holder seems to have lost the processor, or to be rebuilding.
  class Patience {
   public:
    explicit Patience(unsigned wait_ms) : wait_ms_(wait_ms) {}
    // Between two tries; false: it is enough. REQUIRES: no lock held that others in this process need.
    bool Rest();

   private:
    friend class RetainedCacheLock;
    unsigned wait_ms_;
    int tries_ = 0;
    std::chrono::steady_clock::time_point end_;
  };

  // One try, without a wait. After one whose patience has ended, others wait 1 ms only until one is granted.
  bool TryLock(Patience& patience);
  // Tells that it has ended.
  void GiveUp() { refused_ = true; }
  // Tries until the patience ends, wait_ms at most. False: another process has held the lock that long (some
  // ms are enough, but a process may be stopped), or this file cannot be locked.
  bool Lock(unsigned wait_ms);
  void Unlock();

  // A free slot, now this one's; kSlots when there is none.
  unsigned TakeSlot();
  // Gives it back before the descriptor is closed. Pins of that slot count no more.
  void LetSlot();
  // Whether another open file has slot `slot`.
  bool SlotTaken(unsigned slot) const;
  // A bit for each slot that another has, or this one.
  uint64_t LiveSlots() const;

 private:
  int fd_;
  unsigned slot_ = kSlots;
  bool refused_ = false;
};

}  // namespace augur
