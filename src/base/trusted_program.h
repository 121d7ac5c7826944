// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// Opens a program to be executed, by O_PATH. `path` is absolute; links in it are followed. In a process of root, no
// other user may decide which program runs: the file and each folder above it must be root's, and writable for no other
// user. A folder may be writable if its sticky bit keeps other users from replacing its entries. Each component is
// opened from the one before. kNotFound; kInvalid: no absolute path, or no regular file; kPermission: it may not be
// executed, or another user could change it; names the file or folder and the cure. Safe from any thread.
Result<UniqueFd> OpenTrustedProgram(const std::string& path);

}  // namespace augur
