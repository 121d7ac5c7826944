// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "base/unique_fd.h"
#include "pack/tree_source.h"

namespace augur {

// SourceFolder opens what lies below the folder that is packed, by relative path, and follows no symbolic link on the
// way, not even one that takes a folder's place meanwhile. Safe from any thread.
class SourceFolder final : public TreeSource {
 public:
  // kNotFound, kPermission, kIo; kInvalid: not a folder.
  static Result<std::unique_ptr<SourceFolder>> Open(const std::string& path);

  // The folder of the store that is written. It is not packed into itself. REQUIRES: no lister is made yet. kInvalid:
  // it is the source.
  Status LeaveOut(const std::string& store);

  std::string Describe(const std::string& path) const override;
  Attributes attributes() const override;
  std::unique_ptr<FolderLister> MakeLister(const PathFilter& filter) const override;
  Result<std::unique_ptr<SourceFile>> OpenFile(const Found& found) const override;
  // Opens the folder at `path` ("" is the source itself). ErrnoStatus with the path.
  Result<UniqueFd> OpenFolder(const std::string& path) const;

 private:
  SourceFolder(std::string path, UniqueFd fd, const struct stat& info)
      : path_(std::move(path)), fd_(std::move(fd)), info_(info) {}
  int OpenAt(const std::string& path, int flags) const;

  const std::string path_;
  const UniqueFd fd_;
  const struct stat info_;
  dev_t store_device_ = 0;
  ino_t store_inode_ = 0;
  mutable std::atomic<bool> noatime_ = true;  // whether the system lets us read without a trace
};

Attributes AttributesOf(const struct stat& info);

}  // namespace augur
