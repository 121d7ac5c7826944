// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/file_user.h"

namespace augur {

// A regular file that was found and not opened yet.
struct FoundFile {
  UniqueFd fd;      // O_PATH
  UniqueFd folder;  // O_PATH, of the folder with the file's name; invalid: the folder that the search began in
  std::string name;
  struct statx info {};
};

struct WalkRules {
  // Whether symbolic links and ".." are followed. Without it they are refused.
  bool leaves_folder = false;
  // Not nullptr: each folder on the way must let this user search it, and the file must let him read it, by their
  // modes.
  const FileUser* reader = nullptr;
};

// Both find the regular file at `path` from `folder_fd` and open nothing on the way but by O_PATH: no device is opened
// and no FIFO waited for. A file on an AugurFS mount that is not the folder's own is refused (kUnsupported) before
// anything in it is named. In our own mount, the answer would have to come from this program. kNotFound; kInvalid: not
// a regular file, a refused link or ".."; kPermission. `shown` is for messages.

// One component after the other.
Result<FoundFile> WalkTo(int folder_fd, const std::string& path, const WalkRules& rules, const std::string& shown);

// WalkTo without leaves_folder, by one call of openat2(2) where the kernel has it. `*leaves_folder`, which may be
// nullptr, tells whether it was refused for a link or "..".
Result<FoundFile> FindBeneath(int folder_fd, const std::string& path, const std::string& shown, bool* leaves_folder);

}  // namespace augur
