// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cache/warehouse_layout.h"

namespace augur {

// WarehouseLock shuts other processes out of a file, and tells which daemons are alive. Both are locks on single bytes
// (F_OFD_SETLK): the kernel takes them back when the last descriptor of that open() is closed, so however a process
// ends, and process numbers, which mean nothing across namespaces, play no part. Byte 0 is the lock of the tables, byte
// 1 + i belongs to the daemon in slot i for as long as it lives. One thread at a time. Does not own the descriptor.
class WarehouseLock {
 public:
  static constexpr unsigned kSlots = kWarehouseSlots;

  explicit WarehouseLock(int fd = -1) : fd_(fd) {}  // -1: nobody to shut out; every call is granted

  // Waits at most so long. False: somebody has held the lock that long (nobody does so for more than some ms, but a
  // process may be stopped), or this file cannot be locked. After a False, others wait 1 ms only until one is granted.
  bool Lock(unsigned wait_ms);
  void Unlock();

  // A slot that nobody has, now this one's; kSlots when there is none.
  unsigned TakeSlot();
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
