// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// RingArea is the memory in which the kernel and a daemon hand each other requests over io_uring. It is zero at first.
// The kernel writes down the addresses of a request that it hands out, and looks there for the answer, whichever
// process gives it. So each daemon of a mount has the area at the same address. One owner.
class RingArea {
 public:
  // Where the area of a mount's daemons is. Without a file: memory of this process alone.
  struct Place {
    UniqueFd file;
    size_t offset = 0;      // in the file; whole pages
    uintptr_t address = 0;  // where the daemon before has it; 0: there was none, and it may be anywhere
  };

  // Maps it. kNoSpace, kIo: the system gives no memory. kBusy: something of this process is at the address; another
  // process is likely to have room there.
  static Result<RingArea> Map(const Place& place, size_t bytes);
  RingArea(RingArea&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  RingArea& operator=(RingArea&&) = delete;
  ~RingArea();

  std::span<std::byte> memory() const { return memory_; }

 private:
  explicit RingArea(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
};

}  // namespace augur
