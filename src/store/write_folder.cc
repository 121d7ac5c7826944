// SPDX-License-Identifier: Apache-2.0
#include "store/write_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/regular_file.h"

namespace augur {

Result<WriteFolder> WriteFolder::Open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  return WriteFolder(path, std::move(fd));
}

Result<WriteFolder> WriteFolder::OpenFolder(const std::string& name) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, PathOf(name));
  return WriteFolder(PathOf(name), std::move(fd));
}

Result<WriteFolder> WriteFolder::MakeFolder(const std::string& name, mode_t mode) const {
  if (::mkdirat(fd_.get(), name.c_str(), mode) != 0 && errno != EEXIST) return ErrnoStatus(errno, PathOf(name));
  return OpenFolder(name);
}

Result<UniqueFd> WriteFolder::MakeFile(const std::string& name, mode_t mode) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.valid()) return ErrnoStatus(errno, PathOf(name));
  return fd;
}

Result<UniqueFd> WriteFolder::OpenFile(const std::string& name, int flags) const {
  return OpenRegularAt(fd_.get(), name, flags, Links::kRefuse, PathOf(name));
}

Status WriteFolder::Remove(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return Status::Ok();
  return ErrnoStatus(errno, PathOf(name));
}

Status WriteFolder::Rename(const std::string& from, const std::string& to) const {
  if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) == 0) return Status::Ok();
  return ErrnoStatus(errno, PathOf(to));
}

Status WriteFolder::Sync() const {
  while (::fsync(fd_.get()) != 0) {
    if (errno == EINVAL)
      return Status::Ok();  // a file system whose folders cannot be synced has
                            // nothing to sync
    if (errno != EINTR) return ErrnoStatus(errno, path_);
  }
  return Status::Ok();
}

}  // namespace augur
