// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/write_folder.h"

namespace augur {

inline constexpr const char* kLockName = "lock";

// StoreLock is the right to write to a store: an flock on STORE/lock, which the kernel gives back when the process
// ends, however it ends. The text of the file says who holds it, for whoever is refused. Movable; one thread at a time.
class StoreLock {
 public:
  // The folder must outlive the lock. kInvalid: the lock file is no regular file of one name. kBusy: another process or
  // another StoreLock holds it, with its text. kPermission and the like: the file cannot be made. `writer` is the name
  // of the program, for the text.
  static Result<StoreLock> Take(const WriteFolder& folder, const std::string& writer);
  // Whether a file of the lock's name has bytes that no writer of stores has written. False where it has none, as that
  // of a writer that was killed at once, and where it cannot be read: Take says why.
  static bool IsOfOthers(const WriteFolder& folder);
  StoreLock() = default;
  StoreLock(StoreLock&&) = default;
  StoreLock& operator=(StoreLock&&) = default;

  // Removes the lock file while it is still held, for a store that came to nothing.
  void Unlink();

 private:
  StoreLock(const WriteFolder& folder, UniqueFd fd) : folder_(&folder), fd_(std::move(fd)) {}

  const WriteFolder* folder_ = nullptr;
  UniqueFd fd_;
};

}  // namespace augur
