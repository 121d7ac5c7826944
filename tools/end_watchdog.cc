// SPDX-License-Identifier: Apache-2.0
#include "tools/end_watchdog.h"

#include <unistd.h>

#include <utility>

#include "base/thread.h"

namespace augur {

Result<std::unique_ptr<EndWatchdog>> EndWatchdog::Start(std::chrono::milliseconds limit,
                                                        std::function<void()> expired) {
  std::unique_ptr<EndWatchdog> watchdog(new EndWatchdog(limit, std::move(expired)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-watchdog", [self = watchdog.get()] { self->Watch(); }));
  watchdog->thread_ = std::move(thread);
  return watchdog;
}

EndWatchdog::~EndWatchdog() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mu_);
    ended_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

pid_t EndWatchdog::thread_number() const {
  const MutexLock lock(mu_);
  while (thread_number_ == 0) changed_.Wait(mu_);
  return thread_number_;
}

void EndWatchdog::Arm() {
  const MutexLock lock(mu_);
  armed_ = true;
  changed_.NotifyAll();
}

void EndWatchdog::Watch() {
  using Clock = std::chrono::steady_clock;
  {
    const MutexLock lock(mu_);
    thread_number_ = gettid();
    changed_.NotifyAll();
    while (!armed_ && !ended_) changed_.Wait(mu_);
    const Clock::time_point end = Clock::now() + limit_;
    while (!ended_ && Clock::now() < end) {
      changed_.WaitFor(mu_, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
    }
    if (ended_) return;
  }
  expired_();
}

}  // namespace augur
