// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "base/unique_fd.h"

namespace augur {

// SourceFolder opens what lies below the folder that is packed, by relative path, and follows no symbolic link on the
// way, not even one that takes a folder's place meanwhile. Safe from any thread.
class SourceFolder {
 public:
  // kNotFound, kPermission, kIo; kInvalid: not a folder.
  static Result<std::unique_ptr<SourceFolder>> Open(const std::string& path);

  // Opens the folder at `path` ("" is the source itself) or the regular file. ErrnoStatus with the path.
  Result<UniqueFd> OpenFolder(const std::string& path) const;
  // kChanged: it is no regular file any more. `info` is filled by fstat.
  Result<UniqueFd> OpenFile(const std::string& path, struct stat* info) const;

  const struct stat& info() const { return info_; }

  // "SRC/path", printable.
  std::string Describe(const std::string& path) const;

 private:
  SourceFolder(std::string path, UniqueFd fd, const struct stat& info)
      : path_(std::move(path)), fd_(std::move(fd)), info_(info) {}
  int OpenAt(const std::string& path, int flags) const;

  const std::string path_;
  const UniqueFd fd_;
  const struct stat info_;
  mutable std::atomic<bool> noatime_ = true;  // whether the system lets us read without a trace
};

Attributes AttributesOf(const struct stat& info);

}  // namespace augur
