// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "cache/disk_cache_layout.h"

namespace augur {

// A segment that is open for reading. Closes its descriptor, and lets its locks go, with the last reference.
struct DiskCacheFile {
  std::string path;  // for messages
  UniqueFd fd;
  bool direct = false;  // opened with O_DIRECT: offset, length and memory of a read are multiples of `align`
  uint32_t align = 1;   // bytes, a power of two, at most kDiskCachePageBytes; 1 when not direct
};

// Files of the disk cache by descriptor. Free functions, safe from any thread; each may wait for the disk.

// kPermission unless it is this user's alone: cause and cure, for `path`.
Status CheckDiskCacheOwner(const struct stat& info, const std::string& path);

// Opens the segment `name` of the folder. kNotFound: it is gone. kPermission: it is a symbolic link, not a regular
// file, another user's, open for writing to others, or has a second name. Others: as the system says.
Result<UniqueFd> OpenDiskCacheFile(int folder, const std::string& folder_path, const std::string& name, int flags);

// The header. kBusy: it is not written yet, or its writer died before. kUnsupported: another version. kCorrupt: it is
// not one of a segment, or not whole.
Result<DiskCacheHeader> ReadDiskCacheHeader(int fd, const std::string& path);
// A whole header.
DiskCacheHeader MakeDiskCacheHeader(uint64_t id, uint64_t log_bytes);

// Turns O_DIRECT on where the file system takes it with an alignment of at most a page.
void TryDiskCacheDirect(DiskCacheFile* file);

// Locks `count` bytes from `first` on: F_RDLCK, F_WRLCK or F_UNLCK. Never waits. False: another has them, or this file
// cannot be locked. Locks belong to the open() and end with its last descriptor, however the process ends.
bool LockDiskCacheBytes(int fd, int type, int64_t first, int64_t count);

// Writes every byte. kNoSpace: the disk or a quota is full.
Status WriteDiskCache(int fd, const std::string& path, std::span<const std::byte> bytes, uint64_t offset);

}  // namespace augur
