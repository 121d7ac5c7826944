// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "store/file_user.h"

namespace augur {

// As SetForeignFolders left them.
const std::vector<std::string>& ForeignFolders();

// What to do about a shard that is missing or not what it was.
std::string ShardCure(const ShardInfo& info);

// ShardRights decides which files a store may make this program read (FORMAT.md section 6). Whoever wrote the index
// chose the locators, so a store gives only bytes that its owner may read:
// - A shard in the store's folder, or below it, is opened with this program's rights.
// - One that is reached by an absolute locator, "..", a symbolic link or a hard link of another user's file lies
//   outside. It is opened with the rights of the index's owner; or, where folders were named (-o foreign=), from them
//   alone and with this program's rights.
// A shard is a regular file, and never lies in an AugurFS mount.
// Safe from any thread. It owns descriptors of the named folders; that of the store's folder stays the caller's.
class ShardRights {
 public:
  // `folder_fd` is the store's folder, `index_name` and `index_fd` the open index. Names in the folder belong to
  // whoever owns it. So an index that shows root as its owner counts as that of the owner of its link or of the folder.
  // kNotFound and the like: a folder in `foreign` cannot be opened.
  static Result<ShardRights> Make(int folder_fd, const std::string& folder, int index_fd, const std::string& index_name,
                                  const std::vector<std::string>& foreign);

  // Opens the shard for reading. kCorrupt: it is missing, or the rule above refuses it, with the cure.
  Result<UniqueFd> Open(const ShardInfo& info) const;

  int folder_fd() const { return folder_fd_; }

  ShardRights(ShardRights&&) = default;

 private:
  struct Named {
    std::vector<std::string> paths;  // as given and without symbolic links, without a '/' at the end
    UniqueFd fd;
  };
  // Looked up when it is first needed.
  struct Owner {
    Mutex mu;
    bool known AUGUR_GUARDED_BY(mu) = false;
    FileUser user AUGUR_GUARDED_BY(mu);
  };

  ShardRights(int folder_fd, uid_t uid) : folder_fd_(folder_fd), uid_(uid) {}
  Result<UniqueFd> OpenOutside(const ShardInfo& info, const std::string& shown) const;
  Result<UniqueFd> OpenNamed(const ShardInfo& info, const std::string& shown) const;
  Result<UniqueFd> OpenAsOwner(const ShardInfo& info, const std::string& shown) const;
  FileUser OwnerUser() const;

  // Constant after construction.
  int folder_fd_;
  uid_t uid_;                 // the index's owner
  bool is_in_mount_ = false;  // the index lies in an AugurFS mount, whose owners are what its store says
  std::string folder_path_;   // without symbolic links; known when `foreign_` is not empty
  std::vector<Named> foreign_;
  // Own synchronization.
  std::unique_ptr<Owner> owner_ = std::make_unique<Owner>();
};

}  // namespace augur
