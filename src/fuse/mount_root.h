// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/helper_message.h"

namespace augur {

// MountRoot is the root folder of our mount, held open while it exists: as long, a plain umount says that the mount is
// in use, so it is opened for a batch and not kept. One thread. For the helper process only.
class MountRoot {
 public:
  // kChanged: what lies at `path` is not the mount that was there. Others: it cannot be reached.
  static Result<MountRoot> Open(const std::string& path, const HelperMount& mount);

  // Makes the kernel know the inode at `path` (relative, "" is the root): a LOOKUP for each part that it does not know,
  // and no other request. Nothing when there is no such path, or it is longer than the system takes.
  void Stat(const std::string& path) const;

  // Drops the file's clean pages from the page cache. Nothing when the file cannot be opened for reading.
  void Drop(const std::string& path) const;

 private:
  explicit MountRoot(UniqueFd folder) : folder_(std::move(folder)) {}
  UniqueFd folder_;
};

}  // namespace augur
