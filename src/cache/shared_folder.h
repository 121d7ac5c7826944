// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "augur/status.h"

namespace augur {

// Where the files of shared retained caches are. Free functions; they may be called from any thread, and wait for
// another daemon that does the same, some ms.

// In it every user and group has files of their own.
inline constexpr const char* kSharedMemory = "/dev/shm";
// In it root has. A container that was started with --ipc=host has the host's /dev/shm, and its process 1 is root
// there. No mode of a file or folder keeps that one out, so root's files are where no container looks.
inline constexpr const char* kRootSharedMemory = "/run/augurfs-shm";

// The folder for files of this user, or of the group. For root without a group it is kRootSharedMemory, a tmpfs of mode
// 0700, which is made and mounted where it is not there. It stays when the daemon ends, with the files in it. Failures
// have cause and cure, and the caller uses memory of its own process instead: kPermission: it may not be mounted, or
// the folder there is not root's alone. Others: as the system says.
Result<std::string> SharedMemoryFolder(std::optional<gid_t> group);

// The same for root, at `path`; for tests.
Status PrepareRootFolder(const std::string& path);

}  // namespace augur
