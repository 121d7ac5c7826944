// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "augur/entry.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "store/local_file.h"
#include "store/shard_rights.h"

namespace augur {

// LocalFolder is a store's folder in this system, and the index of one generation in it. Both are open, and the index
// is locked against removal where the file system has locks.
//
// On a network file system open descriptors may be lost though the files are well: the server has lost its handles
// (ESTALE), or was mounted anew (ENOTCONN). Then Reopen opens both by the path, once for all who ask, and takes them if
// the index is the same one. Safe from any thread.
class LocalFolder {
 public:
  struct Handles {
    UniqueFd fd;  // O_PATH
    std::shared_ptr<const LocalFile> index;
    ShardRights rights;
  };
  // Who holds them may use them, also after Reopen.
  using HandlesRef = std::shared_ptr<const Handles>;

  // `path` is that of the folder, absolute, and `fd` is the folder, open. An empty result: the index is not there.
  // kBusy: a program that removes old generations has locked the index.
  static Result<std::unique_ptr<LocalFolder>> Open(std::string path, UniqueFd fd, std::string index_name);

  HandlesRef handles() const AUGUR_EXCLUDES(mu_);
  // Whether the folder itself cannot be used any more. Asks the server.
  static bool IsLost(const Handles& handles);
  // Opens folder and index by the path, or gives both as opened since `lost` was got. kCorrupt: they are gone, or
  // another index has the name. Waits for the server.
  Result<HandlesRef> Reopen(const HandlesRef& lost) const AUGUR_EXCLUDES(mu_, reopen_mu_);

 private:
  LocalFolder(std::string path, std::string index_name, HandlesRef handles, const Hash128& header)
      : path_(std::move(path)), index_name_(std::move(index_name)), header_(header), handles_(std::move(handles)) {}

  Result<HandlesRef> OpenAgain() const;

  // Constant after construction.
  const std::string path_;
  const std::string index_name_;
  const Hash128 header_;  // hash of the index's header

  mutable Mutex reopen_mu_{LockRank::kMiddle};  // held while the server is asked, by those who wait for it

  mutable Mutex mu_;
  mutable HandlesRef handles_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
