// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "augur/entry.h"
#include "augur/status.h"
#include "control/statistics.h"
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

// LastingState is what a mount keeps while daemons come and go: memory that the holder and its daemons share. The
// holder makes it before the first daemon, and it ends with the last process that has it. Each member says who writes
// it; readers are daemons that were forked later.
struct LastingState {
  // kNoSpace: the system gives no memory.
  static Result<LastingState*> Make();

  // FUSE_INIT as the kernel sent it; the kernel asks once for a connection. Written by the first daemon, the size last.
  static constexpr size_t kInitBytesMax = 1024;
  std::array<std::byte, kInitBytesMax> init{};
  std::atomic<uint32_t> init_bytes = 0;

  // Which store it is. Written by the first daemon before it serves.
  uint64_t generation = 0;
  Hash128 index_id{};

  // Written by the holder.
  std::array<char, 24> device_number{};  // MountPoint::device_number
  DaemonDeath last_death;                // valid once there was a restart

  // Own synchronization, or that of their owner.
  LastingStatistics statistics;
  LastingViews views;
};

}  // namespace augur
