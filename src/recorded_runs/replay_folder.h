// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// ReplayFolder is a folder of small files that belong to the user alone, each replaced as a whole. Safe from any thread
// and beside other processes. What the files say is not looked at: ReplayStore.
class ReplayFolder {
 public:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t time_sec = 0;  // Unix time of the last change
    int64_t time_nsec = 0;
  };

  // Makes the folder and those above it, where they are not there, with mode 0700; removes what writers that were
  // killed left behind. kPermission: it belongs to another user, or others may write to it.
  static Result<ReplayFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }

  // The files whose names are made by NewName, the newest first. kIo.
  Result<std::vector<File>> List() const;
  // A name that no other file has: of the time and chance.
  static std::string NewName();
  // Opens a file for reading. kNotFound: it is gone, or not a file of this user, or `name` is not made by NewName.
  Result<UniqueFd> OpenFile(std::string_view name) const;
  // Writes a file in place of what has this name. Whoever reads meanwhile, or after a crash, sees the old one or the
  // new one whole. kNoSpace: the disk is full, nothing is changed.
  Status Write(std::string_view name, std::string_view bytes) const;
  // The file is now the newest. kNotFound.
  Status Touch(std::string_view name) const;
  // The folder itself is now the newest of those beside it.
  Status TouchFolder() const;
  // OK too when it is gone already.
  Status Remove(std::string_view name) const;

 private:
  ReplayFolder(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status ForEachName(const std::function<void(const std::string&)>& take) const;
  void RemoveDebris() const;

  std::string path_;
  UniqueFd fd_;
};

}  // namespace augur
