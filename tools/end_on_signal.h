// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// EndOnSignal watches for the end of a mount that is not served yet. Opening a store may wait for a server for a
// minute, and so does the daemon's own thread. Owns one thread. Not for a daemon that serves, which unmounts first and
// answers what it has.
class EndOnSignal {
 public:
  // Ends the process: because of SIGINT, SIGTERM or SIGHUP, or with 0 as the mount is gone.
  using End = std::function<void(int signal)>;

  // `end` is called on its thread, at most once, and does not return. `device`: of /dev/fuse, where there is a mount;
  // else -1. It must outlive this. kNoSpace: the system gives no thread or descriptor. REQUIRES: the signals are
  // blocked (TakeSignals).
  static Result<std::unique_ptr<EndOnSignal>> Start(int device, End end);
  // What comes from now on stays for whoever reads it.
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  EndOnSignal(int device, End end, UniqueFd signals, UniqueFd stop)
      : device_(device), end_(std::move(end)), signals_(std::move(signals)), stop_(std::move(stop)) {}
  void Watch() const;

  // Constant after construction.
  const int device_;
  const End end_;
  const UniqueFd signals_;
  const UniqueFd stop_;  // an eventfd, which ends the thread
  std::thread thread_;
};

}  // namespace augur
