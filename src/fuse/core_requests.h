// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"

namespace augur {

// CoreRequests has the kernel make requests of a mount on each core that this process may run on, over io_uring in that
// core's queue: threads that ask for its statfs(2). For the owner's thread. The answers are not looked at.
class CoreRequests {
 public:
  struct Options {
    std::string mount_point;  // a path; empty, or where this process cannot reach it: there are no requests
    unsigned at_once = 1;     // for each core: threads
    unsigned each = 1;        // requests of a thread, one after the other
  };

  // Never waits: requests that were begun before a failure may need another daemon for their answers.
  static std::unique_ptr<CoreRequests> Start(const Options& options);
  // Waits for the answers: some daemon must serve the mount, or its connection must have ended.
  ~CoreRequests();
  CoreRequests(const CoreRequests&) = delete;
  CoreRequests& operator=(const CoreRequests&) = delete;

  // OK: all threads were started. Else why there are fewer, as StartThread.
  const Status& status() const { return status_; }

 private:
  CoreRequests() = default;

  Status status_;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace augur
