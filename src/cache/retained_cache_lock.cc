// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_lock.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
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

bool RetainedCacheLock::Patience::Rest() {
  constexpr int kTriesAwake = 64;
  constexpr int kTriesYielding = 64;
  ++tries_;
  if (tries_ < kTriesAwake) return true;
  if (tries_ < kTriesAwake + kTriesYielding) {
    ::sched_yield();
    return true;
  }
  const auto now = std::chrono::steady_clock::now();
  if (tries_ == kTriesAwake + kTriesYielding) end_ = now + std::chrono::milliseconds(wait_ms_);
  if (now >= end_) return false;
  const timespec nap = {.tv_sec = 0, .tv_nsec = 50'000};
  ::nanosleep(&nap, nullptr);
  return true;
}

// Not F_OFD_SETLKW, which waits for ever.
bool RetainedCacheLock::TryLock(Patience& patience) {
  if (fd_ < 0) return true;
  if (SetLock(fd_, F_WRLCK, 0)) {
    refused_ = false;
    return true;
  }
  const bool held = errno == EAGAIN || errno == EACCES;
  if (!held) patience.wait_ms_ = 0;
  if (refused_) patience.wait_ms_ = std::min(patience.wait_ms_, 1U);
  return false;
}

bool RetainedCacheLock::Lock(unsigned wait_ms) {
  for (Patience patience(wait_ms); !TryLock(patience);) {
    if (!patience.Rest()) {
      GiveUp();
      return false;
    }
  }
  return true;
}

void RetainedCacheLock::Unlock() {
  if (fd_ >= 0) SetLock(fd_, F_UNLCK, 0);
}

unsigned RetainedCacheLock::TakeSlot() {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (fd_ < 0 || SetLock(fd_, F_WRLCK, 1 + static_cast<off_t>(slot))) return slot_ = slot;
  }
  return kSlots;
}

void RetainedCacheLock::LetSlot() {
  if (fd_ >= 0 && slot_ < kSlots) SetLock(fd_, F_UNLCK, 1 + static_cast<off_t>(slot_));
  slot_ = kSlots;
}

bool RetainedCacheLock::SlotTaken(unsigned slot) const {
  if (fd_ < 0) return false;
  struct flock lock = ByteLock(F_WRLCK, 1 + static_cast<off_t>(slot));
  // What cannot be asked for must be taken for alive.
  return ::fcntl(fd_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

uint64_t RetainedCacheLock::LiveSlots() const {
  uint64_t live = slot_ < kSlots ? uint64_t{1} << slot_ : 0;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (slot != slot_ && SlotTaken(slot)) live |= uint64_t{1} << slot;
  }
  return live;
}

}  // namespace augur
