// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// How an ordinary user mounts: fusermount3 is installed setuid root, checks what the user may do, and mounts for them.

// Mounts on `path` and returns the /dev/fuse descriptor on which the mount is served. `options` is for fusermount3's
// -o. kUnsupported: fusermount3 is not installed. kPermission: it refuses; the text has its own words.
Result<UniqueFd> MountByFusermount(const std::string& path, const std::string& options);

// Unmounts `path`; `lazy` also when it is in use. kBusy: it is in use and not `lazy`, or it is not ours to unmount: the
// text has fusermount3's own words.
Status UnmountByFusermount(const std::string& path, bool lazy);

}  // namespace augur
