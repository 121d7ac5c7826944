// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "cache/retained_cache_layout.h"

namespace augur {

// The file of a shared retained cache: its name, whose it is, and what it says of itself. Free functions, safe from any
// thread. Not for the blocks and tables in it (RetainedCacheTables).

// FOLDER/augurfs-UID-HASH, or augurfs-gGID-HASH for a group: HASH is of the identity, so that equal ones meet.
std::string RetainedCachePath(const std::string& folder, std::string_view identity, std::optional<gid_t> group);

// Opens the file at `path`, or makes an empty one. kPermission: the file there cannot be trusted: a symbolic link, not
// a regular file, another user's, open to others than it should be, or with a second name. kNotFound: the folder is
// missing. Others: as the system says.
Result<UniqueFd> OpenRetainedCacheFile(const std::string& path, std::optional<gid_t> group);

// Whether `path` still names the file that is open. It may have been removed between open and lock.
bool StillNamed(const std::string& path, int fd);

// The geometry, if the file is a whole retained cache of this version, made since the last boot, for `identity`.
// kCorrupt: why it is not. REQUIRES: the lock of the file is held.
Result<RetainedCacheGeometry> CheckRetainedCacheFile(int fd, std::string_view identity);

// Memory that the file at `path` holds; 0 when there is none.
uint64_t RetainedCacheFileBytes(const std::string& path);

// As RetainedCache::SweepDebris.
std::vector<std::string> SweepRetainedCaches(const std::string& folder);

// What tells one boot of this machine from another; empty when the system does not say.
std::string BootId();
// What tells in which tree of mounts paths are looked up; 0 when the system does not say.
uint64_t MountNamespace();

}  // namespace augur
