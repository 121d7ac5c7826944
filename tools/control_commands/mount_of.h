// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// The root folder of the FUSE mount that `path` lies in or leads to (O_PATH). The path is the mount point, anything
// below it, a bind mount of it or of a folder in it, or an overlay that has one of these below. Of overlays by
// fuse-overlayfs(1) only those that -o writable= has laid. Looks at /proc and at folders that the kernel knows already;
// only the path itself may make the daemon answer. Where it finds no root, `error` is the errno value of the look that
// failed.
struct MountLook {
  UniqueFd root;  // invalid: not found
  int error = 0;  // why; 0: it is no mount of FUSE
};
MountLook MountOf(const std::string& path);

// The lower folders of an overlay, from the options of its file system, the topmost first.
std::vector<std::string> LowerFolders(const std::string& options);

}  // namespace augur
