// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// A clone of the mount at `path` (open_tree(2)): the same file system, in no folder. Who looks at files through it does
// not have the mount in use, so that a plain umount works at any moment. The file system lives as long as the clone is
// open, so the holder must watch for the umount. Any process that holds the descriptor can use it, with its own rights.
//
// With CAP_SYS_ADMIN it is one call. An ordinary user's is made by a short-lived child in a user namespace of its own.
// REQUIRES: this process has one thread. kPermission, kUnsupported: not in this system, or not for this user; the mount
// has to be looked at by its path then.
Result<UniqueFd> CloneMount(const std::string& path);

}  // namespace augur
