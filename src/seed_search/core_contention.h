// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include "base/unique_fd.h"

namespace augur {

// CoreContention keeps an idle worker off a core that another thread wants, where its scheduling class alone does not.
// That is with autogroups (sched_autogroup_enabled, the default of most distributions; kernel/sched/autogroup.c) and
// between control groups. There the class weighs within a group only, and a daemon has one of its own. Measured: beside
// busy processes of another session a thread of the idle class has as much of a core as they have.
//
// There are two signs of that. One: the worker had to wait for its core. Where another group keeps the core busy, it
// waits half of the time. It waits less beside a thread that sleeps now and then, which has enough of the core all the
// same. Two: more threads of the machine want a core than there are, so some thread waits, if not this worker. The
// kernel takes a core with a worker on it for one with a load like another, and may put two loaders on the next one
// (load_balance, kernel/sched/fair.c).
//
// Who has come last goes first; among those who are there for longer, chance decides, so that not all of them go for
// one thread too many. Who went stays away, twice as long each time, and is back when neither sign is seen; not all at
// once, else each would find the others there.
//
// Clock-free; for one thread.
class CoreContention {
 public:
  using Time = std::chrono::nanoseconds;

  // The two signs, as each worker looks at them for itself, about once in a millisecond of processor time.
  struct Look {
    Time own{0};             // processor time since the last look
    Time waited{0};          // and how long the worker was kept from running meanwhile
    int excess_threads = 0;  // threads that want a core, beyond the cores that there are; at least 0
    unsigned workers = 1;    // that have not stayed away, this one included
  };

  // Several slices of the kernel's (3 ms), so that who competes is seen.
  static constexpr Time kWindow = std::chrono::milliseconds(20);
  // Of it, 6 ms: two slices. Less is a reader that wakes up now and then: it has the core at once or soon, and sleeps
  // again.
  static constexpr double kWaitedPart = 0.3;
  // In the window's mean. Less is the same: who comes for two slices is 0.3, and who wants all of a core 1.
  static constexpr double kExcessThreads = 0.4;
  // Three slices: whoever came for one of them is gone by then. Doubled seven times it is a second.
  static constexpr Time kPauseMin = std::chrono::milliseconds(10);
  // The doubled pause grows no further. A core that falls idle is noticed after half as much again at the latest.
  static constexpr Time kPauseMax = std::chrono::seconds(1);

  // Workers with different seeds decide differently.
  explicit CoreContention(uint32_t seed) : random_(seed) {}

  // How long to stay away now: 0, or as above, to which chance adds up to half.
  Time Pass(const Look& look);

 private:
  bool Wanted();
  double Chance();  // 0 to 1

  std::minstd_rand random_;
  Time own_{0};
  Time waited_{0};
  int looks_ = 0;
  double excess_threads_ = 0;  // sums of all looks
  double workers_ = 0;
  bool had_excess_ = false;  // in the window before
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

// How many threads want a core now beyond the cores that there are (the fourth field of /proc/loadavg, proc(5)). That
// is of the machine, or of the container where its /proc says so. Safe from any thread.
class RunQueueLength {
 public:
  RunQueueLength();
  // At least 0; 0 if the kernel does not tell.
  int Now() const;

 private:
  const UniqueFd file_;
  const int cores_;
};

}  // namespace augur
