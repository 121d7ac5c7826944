// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// What to do when the last component of a path is a symbolic link.
enum class Links { kFollow, kRefuse };

// Opens of files in a folder that others may write to. The type is looked at through an O_PATH descriptor before the
// real open, so no device, FIFO or socket is ever opened. Safe from any thread.

// Opens the regular file `name` in `folder_fd` (AT_FDCWD: `name` is a path). `flags`: the access mode, O_DIRECT.
// `path` is for messages. kNotFound: no such name. kInvalid: not a regular file, or a link that is refused.
Result<UniqueFd> OpenRegularAt(int folder_fd, const std::string& name, int flags, Links links, const std::string& path);

// Opens, with the caller's rights, the file that an O_PATH descriptor has found as `name` in `folder_fd`. REQUIRES: it
// is a regular file.
Result<UniqueFd> OpenFound(int found_fd, int folder_fd, const std::string& name, int flags, const std::string& path);

// kInvalid, with the type in words, unless the mode is that of a regular file.
Status CheckRegular(unsigned mode, const std::string& path);

}  // namespace augur
