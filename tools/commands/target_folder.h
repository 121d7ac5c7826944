// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "augur/entry.h"
#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// A folder that extract writes into, by its descriptor. Names are resolved in it and never through a symbolic link, so
// nothing lands outside, whatever others do to the tree meanwhile. Safe from any thread; it is shared by the files that
// are being written into it. REQUIRES, for all names: one component, not "." or "..".
class TargetFolder {
 public:
  // Opens the folder `path`, which may be a symbolic link, and makes it if it is not there. kNotFound: neither it nor
  // the folder that it would be in is there.
  static Result<std::shared_ptr<const TargetFolder>> OpenTop(const std::string& path);

  // The folder `name` in it, made if it is not there, and writable for us until SetAttributes. Anything else of
  // that name: kExists, or with `force` it is removed.
  Result<std::shared_ptr<const TargetFolder>> MakeFolder(const std::string& name, bool force) const;
  // The folder `name` in it, which is there.
  Result<std::shared_ptr<const TargetFolder>> OpenFolder(const std::string& name) const;

  // Writes into an empty file; `path` is for messages.
  using Fill = std::function<Status(int fd, const std::string& path)>;
  // A new file with the mode and time of `attributes`, but without set-user-ID and set-group-ID bits unless
  // `special_modes`. Whoever packed the store was another user than the one who owns the file. It is closed to all
  // others while it is written. Anything of that name: kExists, or with `force` it is removed unless it is a folder. A
  // file that is not whole, because `fill` or the system fails, is removed.
  Status WriteFile(const std::string& name, const Entry& attributes, bool force, bool special_modes,
                   const Fill& fill) const;
  // A symbolic link with its time. Anything of that name: as in WriteFile.
  Status MakeSymlink(const Entry& link, std::string_view target, bool force) const;

  // Gives the folder the entry's mode and time. To be called when nothing more is written into it. Without
  // `special_modes` a set-group-ID bit is the one that the folder has.
  Status SetAttributes(const Entry& entry, bool special_modes) const;

  const std::string& path() const { return path_; }  // for messages

  TargetFolder(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

 private:
  Result<UniqueFd> MakeFile(const std::string& name, bool force) const;
  Status Clear(const std::string& name, bool force) const;
  std::string PathOf(std::string_view name) const;

  // Constant after construction.
  const UniqueFd fd_;
  const std::string path_;
};

}  // namespace augur
