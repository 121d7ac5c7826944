// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "base/unique_fd.h"

namespace augur {

// Courtesy keeps an idle worker off a core that somebody else wants, where its scheduling class alone does not: with
// autogroups (sched_autogroup_enabled, the default of most distributions; kernel/sched/autogroup.c) the class weighs
// within a session only, and a daemon has one of its own. Measured: beside busy processes of another session a thread
// of the idle class has as much of a core as they have. So a worker that had to wait for its core stays away, twice as
// long each time, and is back when it need not wait. Beside busy processes it then has a half to one per cent of a
// core.
//
// Clock-free; for one thread.
class Courtesy {
 public:
  using Time = std::chrono::nanoseconds;

  // Some slices of the kernel's (3 ms), so that who competes is seen.
  static constexpr Time kWindow = std::chrono::milliseconds(10);
  // Of it, what a reader that wakes up now and then may take from us: it has the core at once, and sleeps again.
  static constexpr double kWaitedPart = 0.1;
  static constexpr Time kPauseMin = std::chrono::milliseconds(10);
  // A core that falls idle is noticed after so long at the latest.
  static constexpr Time kPauseMax = std::chrono::seconds(1);

  // The worker has run for `own` since the last call, and was kept `waited` from running. How long to stay away now: 0,
  // or as above.
  Time Pass(Time own, Time waited);

 private:
  Time own_{0};
  Time waited_{0};
  Time pause_{0};
};

// How long the calling thread has waited for a core since it began, while it could have run
// (/proc/thread-self/schedstat; Documentation/scheduler/sched-stats.rst). What a hypervisor takes does not count. For
// the thread that made it.
class RunDelay {
 public:
  RunDelay();
  // None: this kernel does not count it.
  std::optional<std::chrono::nanoseconds> Total() const;

 private:
  const UniqueFd file_;
};

}  // namespace augur
