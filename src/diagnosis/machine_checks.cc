// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/machine_checks.h"

#include <string>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

// Docker gives 64 MiB. A loader of eight workers with two batches of 256 images of 224 x 224 each holds 1.2 GB there.
constexpr uint64_t kShmBytesMin = kGiB;
constexpr uint64_t kReadAheadBytesMin = 128 * kKiB;
// The rings of io_uring count as locked memory before Linux 5.12.
constexpr uint64_t kMemlockBytesMin = 8 * kMiB;

Finding CheckFuse(const MachineFacts& machine) {
  switch (machine.fuse_device) {
    case MachineFacts::FuseDevice::kMissing:
      return {
          .weight = Weight::kProblem,
          .name = "fuse-device",
          .text = "There is no /dev/fuse, so nothing can be mounted.",
          .cure = "Run 'modprobe fuse' as root. In a container: docker run --device /dev/fuse --cap-add SYS_ADMIN."};
    case MachineFacts::FuseDevice::kRefused:
      return {.weight = Weight::kProblem,
              .name = "fuse-device",
              .text = "/dev/fuse cannot be opened by this user.",
              .cure =
                  "Run 'chmod 666 /dev/fuse' as root. In a container: docker run --device /dev/fuse --cap-add "
                  "SYS_ADMIN."};
    case MachineFacts::FuseDevice::kUsable: break;
  }
  return {.weight = Weight::kFine, .name = "fuse-device", .text = "/dev/fuse can be opened.", .cure = {}};
}

Finding CheckFusermount(const MachineFacts& machine) {
  if (!machine.fusermount.empty()) {
    return {.weight = Weight::kFine, .name = "fusermount", .text = machine.fusermount + " is there.", .cure = {}};
  }
  return {.weight = machine.is_root ? Weight::kAdvice : Weight::kProblem,
          .name = "fusermount",
          .text = machine.is_root ? "There is no fusermount3, which only users other than root need."
                                  : "There is no fusermount3, by which users other than root mount.",
          .cure = "Install it: apt install fuse3, or dnf install fuse3."};
}

Finding CheckKernel(const MachineFacts& machine) {
  const std::string kernel = "This is Linux " + machine.kernel_release + ".";
  if (machine.KernelIsBefore(5, 6)) {
    return {.weight = Weight::kAdvice,
            .name = "kernel",
            .text = kernel + " It has no io_uring that can read files, so threads read them.",
            .cure = "Use Linux 5.6 or newer, better 6.9 or newer."};
  }
  if (machine.KernelIsBefore(6, 9)) {
    return {
        .weight = Weight::kAdvice,
        .name = "kernel",
        .text = kernel + " A mount does not outlive a crash of its daemon, and cannot be upgraded while it is used.",
        .cure = "Linux 6.9 or newer has both."};
  }
  return {.weight = Weight::kFine, .name = "kernel", .text = kernel, .cure = {}};
}

Finding CheckUring(const MachineFacts& machine) {
  if (machine.io_uring_refusal.empty()) {
    return {.weight = Weight::kFine, .name = "io-uring", .text = "The disk can be read by io_uring.", .cure = {}};
  }
  // "io_uring is forbidden by ...: sysctl ... allows it": cause and cure in one.
  return {.weight = Weight::kAdvice,
          .name = "io-uring",
          .text = "The disk is read by threads, which costs more processor time.",
          .cure = machine.io_uring_refusal + "."};
}

Finding CheckShm(const MachineFacts& machine) {
  const std::string size = "/dev/shm has " + FormatSize(machine.shm_bytes) + ".";
  if (machine.shm_bytes >= kShmBytesMin) {
    return {.weight = Weight::kFine, .name = "dev-shm", .text = size, .cure = {}};
  }
  return {.weight = Weight::kAdvice,
          .name = "dev-shm",
          .text = size + " PyTorch's workers pass batches through it, and fail with 'bus error' when it is full.",
          .cure = "Run 'mount -o remount,size=8G /dev/shm' as root. In a container: docker run --shm-size=8g."};
}

Finding CheckAllowOther() {
  return {.weight = Weight::kAdvice,
          .name = "user-allow-other",
          .text = "Only the user who mounts will see the mount: /etc/fuse.conf has no user_allow_other.",
          .cure =
              "If other users read it, root adds the line 'user_allow_other' there, and you mount with -o "
              "allow_other."};
}

}  // namespace

std::vector<Finding> CheckMachine(const MachineFacts& machine) {
  std::vector<Finding> findings = {CheckFuse(machine), CheckFusermount(machine), CheckKernel(machine),
                                   CheckUring(machine), CheckShm(machine)};
  if (!machine.is_root && !machine.user_allow_other) findings.push_back(CheckAllowOther());
  if (machine.KernelIsBefore(5, 12) && machine.memlock_bytes < kMemlockBytesMin) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "memlock",
                        .text = "This user may lock " + FormatSize(machine.memlock_bytes) +
                                " of memory, and before Linux 5.12 io_uring needs more.",
                        .cure = "Raise it: 'ulimit -l unlimited', or memlock in /etc/security/limits.conf."});
  }
  if (machine.enable_uring == MachineFacts::Switch::kOff) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "enable-uring",
                        .text = "FUSE over io_uring is off. With it, an open() of a file in the page cache costs half.",
                        .cure = "As root: echo Y > /sys/module/fuse/parameters/enable_uring, then mount with -o "
                                "transport=uring,restart=no. A crash of the daemon then ends the mount."});
  }
  if (machine.mount_read_ahead_bytes != 0 && machine.mount_read_ahead_bytes < kReadAheadBytesMin) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "read-ahead",
                        .text = "The kernel reads ahead " + FormatSize(machine.mount_read_ahead_bytes) +
                                " of this mount, so each file takes many requests.",
                        .cure = "Mount with -o read-ahead=1M, as root."});
  }
  return findings;
}

}  // namespace augur
