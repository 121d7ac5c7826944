// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "control/lasting_orders.h"
#include "control/statistics.h"
#include "fs/lasting_numbers.h"
#include "fs/lasting_views.h"

namespace augur {

// How a daemon ended.
struct DaemonDeath {
  int64_t time = 0;  // seconds since 1970
  pid_t pid = 0;
  int signal = 0;  // 0: it ended by itself, with `status`
  int status = 0;
  bool dumped = false;    // a core was written
  bool is_dying = false;  // not all of it has ended yet: it writes its core, or a thread of it hangs in the kernel
};

// Which daemon hands the mount over to another one, and since when it has taken no requests.
struct DaemonStop {
  static constexpr size_t kVersionBytesMax = 32;
  pid_t process = 0;
  std::array<char, kVersionBytesMax> version{};
  int64_t time_ns = 0;  // CLOCK_MONOTONIC; 0: it has died before
};

// The last upgrade of the mount: one daemon has handed it over to another one.
struct Upgrade {
  // Written by the daemon that asks for another one. No upgrade follows where that one fails.
  DaemonStop stop;
  // Written by the one that goes on, when it takes requests, `to` last. Its threads for augurctl read them meanwhile.
  DaemonStop from;
  std::atomic<pid_t> to = 0;        // 0: there was no upgrade
  std::atomic<int64_t> time = 0;    // seconds since 1970
  std::atomic<int64_t> gap_ns = 0;  // how long no daemon took requests
};

// The memory of the queues of FUSE over io_uring (RingArea), which is behind the state, in the same file. Each daemon
// has it at the same address.
struct LastingRings {
  uint64_t address = 0;  // 0: requests come over /dev/fuse
  uint64_t payload_bytes = 0;
  uint32_t queues = 0;
  uint32_t depth = 0;
};

// LastingState is what a mount keeps while daemons come and go: memory that the holder and its daemons share. The
// holder makes it before the first daemon, and it ends with the last process that has it. A daemon that was forked has
// it; one that executes another program opens it by its descriptor, and must then know the layout. Each member says who
// writes it; readers are daemons that were started later.
struct LastingState {
  struct Shared;
  // kNoSpace, kIo: the system gives no memory.
  static Result<Shared> Make();
  // The state that another program has made. kUnsupported: its layout is not this program's, with both. kInvalid: `fd`
  // is none.
  static Result<LastingState*> Open(int fd);

  // Where the memory of the rings begins in the file; whole pages.
  static size_t RingsOffset();

  // What tells one layout from another. To be raised when a member changes its meaning or its place; a change of size
  // is seen without that. A new counter changes nothing: a daemon finds those of LastingStatistics by name.
  static constexpr uint32_t kLayout = 8;
  struct Header {
    std::array<char, 8> magic;
    uint32_t layout;
    uint32_t bytes;  // of the whole state, without the memory of the rings
    bool operator==(const Header&) const = default;
  };
  // Written once, by Make.
  Header header = ThisHeader();
  static Header ThisHeader();

  // FUSE_INIT as the kernel sent it; the kernel asks once for a connection. Written by the first daemon, the size last.
  static constexpr size_t kInitBytesMax = 1024;
  std::array<std::byte, kInitBytesMax> init{};
  std::atomic<uint32_t> init_bytes = 0;
  // ... and what the first daemon has answered: each later one must mean the same. Written before init_bytes.
  static constexpr size_t kInitReplyBytesMax = 256;
  std::array<std::byte, kInitReplyBytesMax> init_reply{};
  uint32_t init_reply_bytes = 0;

  // Written by the holder.
  std::array<char, 24> device_number{};  // MountPoint::device_number
  DaemonDeath last_death;                // valid once there was a restart

  Upgrade upgrade;

  // Written by the first daemon before it serves, and constant then.
  LastingRings rings;

  // Own synchronization, or that of their owner.
  LastingStatistics statistics;
  LastingViews views;
  LastingOrders orders;
  // Which store it is, and what its entries are called at the kernel. Written by each daemon before it serves.
  LastingNumbers numbers;
};

struct LastingState::Shared {
  LastingState* state;
  UniqueFd fd;  // of the memory, whose size cannot change any more
};

}  // namespace augur
