// SPDX-License-Identifier: Apache-2.0
#include "cache/warehouse_lock.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace augur {
namespace {

struct flock ByteLock(short type, off_t byte) {  // NOLINT(google-runtime-int): the field's type
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;  // l_pid must be 0 for these locks
}

bool SetLock(int fd, short type, off_t byte) {  // NOLINT(google-runtime-int)
  struct flock lock = ByteLock(type, byte);
  int done = 0;
  do {
    done = ::fcntl(fd, F_OFD_SETLK, &lock);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

}  // namespace

// Not F_OFD_SETLKW, which waits for ever. A holder needs a few us, so that others first try again at once (0.2 us a
// try), and sleep only when it seems to have lost the processor, or to be rebuilding.
bool WarehouseLock::Lock(unsigned wait_ms) {
  if (fd_ < 0) return true;
  constexpr int kTriesAwake = 64;
  constexpr int kTriesYielding = 64;
  if (refused_) wait_ms = std::min(wait_ms, 1U);
  std::chrono::steady_clock::time_point end;
  for (int tries = 0;; ++tries) {
    if (SetLock(fd_, F_WRLCK, 0)) {
      refused_ = false;
      return true;
    }
    if (errno != EAGAIN && errno != EACCES) break;
    if (tries < kTriesAwake) continue;
    if (tries < kTriesAwake + kTriesYielding) {
      ::sched_yield();
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (tries == kTriesAwake + kTriesYielding) end = now + std::chrono::milliseconds(wait_ms);
    if (now >= end) break;
    const timespec nap = {.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&nap, nullptr);
  }
  refused_ = true;
  return false;
}

void WarehouseLock::Unlock() {
  if (fd_ >= 0) SetLock(fd_, F_UNLCK, 0);
}

unsigned WarehouseLock::TakeSlot() {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (fd_ < 0 || SetLock(fd_, F_WRLCK, 1 + static_cast<off_t>(slot))) return slot_ = slot;
  }
  return kSlots;
}

bool WarehouseLock::SlotTaken(unsigned slot) const {
  if (fd_ < 0) return false;
  struct flock lock = ByteLock(F_WRLCK, 1 + static_cast<off_t>(slot));
  // What cannot be asked for must be taken for alive.
  return ::fcntl(fd_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

uint64_t WarehouseLock::LiveSlots() const {
  uint64_t live = slot_ < kSlots ? uint64_t{1} << slot_ : 0;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (slot != slot_ && SlotTaken(slot)) live |= uint64_t{1} << slot;
  }
  return live;
}

}  // namespace augur
