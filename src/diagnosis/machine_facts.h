// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace augur {

// What matters to a mount of the machine on which this process runs. A value that cannot be told is as it is here.
struct MachineFacts {
  enum class FuseDevice { kUsable, kMissing, kRefused };
  enum class Switch { kOn, kOff, kAbsent };

  unsigned cores = 1;         // that this process may use
  uint64_t memory_bytes = 0;  // the machine's, or less in a memory control group
  uint64_t memory_available_bytes = 0;
  uint64_t shm_bytes = 0;  // the size of /dev/shm
  uint64_t shm_free_bytes = 0;
  uint64_t memlock_bytes = 0;  // RLIMIT_MEMLOCK; UINT64_MAX: no limit
  unsigned kernel_major = 0;
  unsigned kernel_minor = 0;
  std::string kernel_release;
  bool is_root = false;
  std::string fusermount;  // the path of fusermount3; empty: there is none
  FuseDevice fuse_device = FuseDevice::kUsable;
  bool user_allow_other = false;          // /etc/fuse.conf lets users mount with allow_other
  Switch enable_uring = Switch::kAbsent;  // FUSE over io_uring
  std::string io_uring_refusal;           // why io_uring cannot be used, with the cure; empty: it can
  uint64_t mount_read_ahead_bytes = 0;    // of the mount that is looked at; 0: there is none, or it is not told

  bool KernelIsBefore(unsigned major, unsigned minor) const {
    return kernel_major != 0 && (kernel_major < major || (kernel_major == major && kernel_minor < minor));
  }
};

}  // namespace augur
