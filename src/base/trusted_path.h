// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// Paths that a program of root makes things at. On such a path a symbolic link is followed only when it belongs to
// root: another user's would lead root to any place of that user's choice. Programs of other users follow every link,
// as always. Each component is opened from the one before, so no one can exchange a part of the path meanwhile.
// Safe from any thread.

enum class MissingFolders { kFail, kMake };  // kMake: with mode 0700

// Opens the folder at `path` by O_PATH. kNotFound; kInvalid: not a folder; kPermission: a link that is not followed,
// named with the cure.
Result<UniqueFd> OpenTrustedFolder(const std::string& path, MissingFolders missing);

// Opens a file to append to it, made with mode 0644 if it is not there. In a program of root a regular file must be
// root's and have no second name. kPermission: it is another user's, or a link.
Result<UniqueFd> OpenTrustedLog(const std::string& path);

}  // namespace augur
