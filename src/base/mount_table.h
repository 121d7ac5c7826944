// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

// One mount of this process's mount namespace: a row of /proc/self/mountinfo, escapes undone.
struct MountRow {
  uint64_t id = 0;          // of the mount, as in /proc/PID/fdinfo
  std::string device;       // "major:minor"
  std::string root;         // what of the file system is seen: "/", or a folder that a bind mount shows
  std::string mount_point;  // absolute
  std::string options;      // of the mount point: "ro,nosuid"
  std::string type;         // "ext4", "fuse.augurfs"
  std::string source;
  uint32_t user = 0;  // whose FUSE mount it is; 0 for any other type
  uint32_t group = 0;
  std::string file_system_options;  // "ro,lowerdir=/a:/b"
};

// Rows of a mountinfo text in its order. A row that does not have the form of proc(5) is left out.
std::vector<MountRow> ParseMountTable(std::string_view text);

// The mounts that this process sees now. kIo: /proc is not mounted or cannot be read.
Result<std::vector<MountRow>> ReadMountTable();

// The mount that is seen at `path`, an absolute path without symbolic links, '.' or '..': the last one made there.
// nullptr: none.
const MountRow* TopmostMount(const std::vector<MountRow>& rows, std::string_view path);

// `text` as a value within an -o argument of mount(8): commas and backslashes escaped.
std::string EscapeMountOption(std::string_view text);

// The type of every AugurFS mount.
inline constexpr std::string_view kAugurfsType = "fuse.augurfs";

// The type of an overlay that an ordinary user has laid over a mount of theirs. Its row does not tell the folders below
// it. So the folder of -o writable=, in which the mount is, has a file (kOverlayFile) that says which overlay is over
// it. The file has one line with the device of the row.
inline constexpr std::string_view kUserOverlayType = "fuse.fuse-overlayfs";
inline constexpr const char* kOverlayFile = "overlay";
inline constexpr const char* kLowerFolder = "lower";  // the mount, in the same folder

// Whether the device, as statx(2) gives it, is that of an AugurFS mount. False where /proc does not tell.
bool IsAugurfsDevice(uint32_t major, uint32_t minor);

}  // namespace augur
