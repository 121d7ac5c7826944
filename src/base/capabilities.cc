// SPDX-License-Identifier: Apache-2.0
#include "base/capabilities.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace augur {
namespace {

// Capabilities as 64 bits; the system call takes them as two words of 32.
uint64_t Mask(std::span<const int> capabilities) {
  uint64_t mask = 0;
  for (const int one : capabilities) mask |= uint64_t{1} << one;
  return mask;
}

// Takes all but those of the mask out of the bounding set, which takes CAP_SETPCAP. EINVAL: this kernel has no such
// one.
void CutBoundingSet(uint64_t mask) {
  constexpr int kNumbers = 64;
  for (int one = 0; one < kNumbers; ++one) {
    if ((mask >> one & 1) == 0) (void)prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  }
}

using CapabilityWords = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

}  // namespace

Status KeepCapabilities(std::span<const int> kept) {
  const uint64_t mask = Mask(kept);
  CutBoundingSet(mask);
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  CapabilityWords words{};
  if (syscall(SYS_capget, &header, words.data()) != 0) return ErrnoStatus(errno, "capget");
  for (size_t i = 0; i < words.size(); ++i) {
    const auto part = static_cast<uint32_t>(mask >> (32 * i));
    words[i].permitted &= part;
    words[i].effective = words[i].permitted;
    words[i].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, words.data()) != 0) return ErrnoStatus(errno, "capset");
  return Status::Ok();
}

Status RefuseNewPrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ErrnoStatus(errno, "PR_SET_NO_NEW_PRIVS");
  return Status::Ok();
}

Status BecomeUser(const User& user) {
  CutBoundingSet(0);  // the capability that this takes goes with the user
  if (setgroups(user.groups.size(), user.groups.data()) != 0) return ErrnoStatus(errno, "setgroups");
  if (setresgid(user.gid, user.gid, user.gid) != 0) return ErrnoStatus(errno, "setresgid");
  if (setresuid(user.uid, user.uid, user.uid) != 0) return ErrnoStatus(errno, "setresuid");
  AUGUR_TRY(KeepCapabilities({}));
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return ErrnoStatus(errno, "PR_SET_DUMPABLE");
  return Status::Ok();
}

}  // namespace augur
