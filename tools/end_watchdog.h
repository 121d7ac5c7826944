// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// EndWatchdog calls `expired` when the end of the daemon takes longer than a limit: a read of a disk that does not
// answer cannot be broken off. Owns one thread, on which `expired` is called, at most once. Arm and the destructor are
// for the thread that made it.
class EndWatchdog {
 public:
  // Starts the thread now, as a daemon that has run out of something may get none when it has to end. kNoSpace: the
  // system gives no thread.
  static Result<std::unique_ptr<EndWatchdog>> Start(std::chrono::milliseconds limit, std::function<void()> expired);
  // Everything has ended in time.
  ~EndWatchdog();
  EndWatchdog(const EndWatchdog&) = delete;
  EndWatchdog& operator=(const EndWatchdog&) = delete;

  // Its thread, which waits for nothing in the kernel and ends with the process or with this. REQUIRES: Start's thread.
  pid_t thread_number() const AUGUR_EXCLUDES(mu_);

  // The time runs from now on; from the first call, when it is called again.
  void Arm();

 private:
  EndWatchdog(std::chrono::milliseconds limit, std::function<void()> expired)
      : limit_(limit), expired_(std::move(expired)) {}
  void Watch();

  // Constant after construction.
  const std::chrono::milliseconds limit_;
  const std::function<void()> expired_;
  std::thread thread_;

  mutable Mutex mu_;
  mutable CondVar changed_;
  pid_t thread_number_ AUGUR_GUARDED_BY(mu_) = 0;  // 0: it has not begun
  bool armed_ AUGUR_GUARDED_BY(mu_) = false;
  bool ended_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
