// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// WriteFolder is a folder that a writer has open: every name in it is resolved from its descriptor and never through a
// symbolic link. So nothing is written elsewhere, whatever others do to the folder or to its path meanwhile. Safe from
// any thread. It may be moved; those who use it must not outlive it. Not for reading stores: ShardRights.
class WriteFolder {
 public:
  // Opens the folder at `path`, which may be a symbolic link: the caller named it. kNotFound; kInvalid: not a folder.
  static Result<WriteFolder> Open(const std::string& path);
  // Opens the folder `name` in it, made with `mode` if it is not there. kInvalid: a link, or no folder.
  Result<WriteFolder> MakeFolder(const std::string& name, mode_t mode) const;
  // The same without making it. kNotFound.
  Result<WriteFolder> OpenFolder(const std::string& name) const;

  // Makes a new file, open for reading and writing, with `mode` less the umask. kExists: the name is taken.
  Result<UniqueFd> MakeFile(const std::string& name, mode_t mode) const;
  // Opens a regular file that is there. kNotFound; kInvalid: a link, a device, a FIFO.
  Result<UniqueFd> OpenFile(const std::string& name, int flags) const;
  // Removes the name of a file or link. OK when it is not there.
  Status Remove(const std::string& name) const;
  Status Rename(const std::string& from, const std::string& to) const;
  // Waits until the names in the folder are on disk.
  Status Sync() const;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }  // as given, for messages
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  WriteFolder(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

}  // namespace augur
