// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// Background runs the rest of the program in a child process, while the parent, which the caller waits for, ends when
// the child says that it is ready. Until it leaves, the child has the caller's streams, terminal and working folder, so
// its messages are seen and Ctrl-C reaches it. One thread: it forks, so it comes before any thread.
class Background {
 public:
  // Forks. In the parent it does not return. The process ends with status 0 once Ready was called in the child, and
  // with the child's exit status when that ends first. It ends with 2 and a message when the child was killed. The
  // child keeps the standard streams and `keep_fd` (-1: none). What else was open is closed: a lock or pipe of the
  // caller must not live on in a daemon.
  static Result<Background> Fork(int keep_fd);

  // Leaves the caller: own session, working folder "/", standard streams closed (stderr goes to `error_path` unless
  // that is empty, for what the C library and assertions write).
  static Status Leave(const std::string& error_path);

  // Lets the parent end, and with it what the caller waits for. kStopped: the parent is gone already, so no caller
  // wants what we do any more.
  Status Ready();
  // The descriptor to which Ready writes a byte, for another process that does that.
  UniqueFd TakeReady() { return std::move(ready_); }

 private:
  UniqueFd ready_;  // a byte written here ends the parent
};

}  // namespace augur
