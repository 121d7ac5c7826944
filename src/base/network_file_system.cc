// SPDX-License-Identifier: Apache-2.0
#include "base/network_file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace augur {
namespace {

// Those that linux/magic.h does not have are from the sources of the file systems, or from statfs(2).
constexpr uint64_t kBeeGfs = 0x19830326;
constexpr uint64_t kGfs2 = 0x01161970;
constexpr uint64_t kGpfs = 0x47504653;
constexpr uint64_t kLustre = 0x0BD00BD0;
constexpr uint64_t kOrangeFs = 0x20030528;
constexpr uint64_t kPanFs = 0xAAD7AAEA;

constexpr auto kTypes = std::to_array<uint64_t>({
    NFS_SUPER_MAGIC,
    SMB_SUPER_MAGIC,
    CIFS_SUPER_MAGIC,
    SMB2_SUPER_MAGIC,
    CEPH_SUPER_MAGIC,
    FUSE_SUPER_MAGIC,
    V9FS_MAGIC,
    AFS_SUPER_MAGIC,
    AFS_FS_MAGIC,
    CODA_SUPER_MAGIC,
    NCP_SUPER_MAGIC,
    OCFS2_SUPER_MAGIC,
    kBeeGfs,
    kGfs2,
    kGpfs,
    kLustre,
    kOrangeFs,
    kPanFs,
});

}  // namespace

bool IsNetworkFileSystem(uint64_t type) { return std::ranges::find(kTypes, type) != kTypes.end(); }

bool IsOnNetworkFileSystem(int fd) {
  struct statfs info {};
  // Some architectures have a signed field of 32 bits.
  return ::fstatfs(fd, &info) == 0 && IsNetworkFileSystem(static_cast<uint32_t>(info.f_type));
}

bool IsLostHandle(int error, bool network) {
  return error == ESTALE || error == ENOTCONN || error == ESHUTDOWN || (network && error == EIO);
}

}  // namespace augur
