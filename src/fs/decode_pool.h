// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// DecodePool runs work that takes milliseconds of processor time, so that threads that answer requests or complete
// reads need not. Work for readers goes before work that is only predicted. It also has threads of its own, so that it
// never waits for the latter. Within each class, first come, first served. Safe from any thread. Work must not wait for
// other work: that could last for ever. The queues have no maximum: RenderedFiles adds work only for images that have
// memory of its budget.
class DecodePool {
 public:
  enum class Urgency : size_t { kDemand, kAhead };

  // `ahead` threads run both classes, `demand` further threads only work for readers. kNoSpace: the system gives no
  // such thread. REQUIRES: ahead > 0.
  static Result<std::unique_ptr<DecodePool>> Start(unsigned ahead, unsigned demand);
  // Runs all that was given, then ends the threads.
  ~DecodePool();
  DecodePool(const DecodePool&) = delete;
  DecodePool& operator=(const DecodePool&) = delete;

  // Runs `work` on one of the threads. REQUIRES: the pool is not being destroyed, but by what it runs.
  void Run(Urgency urgency, std::function<void()> work);

  // The number of threads that run both classes.
  unsigned ahead() const { return ahead_; }

 private:
  static constexpr size_t kUrgencies = 2;

  DecodePool() = default;
  void Work(bool only_demand);
  // The queue to take from; nullptr: there is nothing to do.
  std::deque<std::function<void()>>* Next(bool only_demand) AUGUR_REQUIRES(mu_);

  // Constant after Start.
  unsigned ahead_ = 0;
  std::vector<std::thread> threads_;

  Mutex mu_;
  CondVar wake_;  // all threads
  // One for each image that has memory of RenderedFiles. One that was predicted, and that a reader has come to wait
  // for, is in both.
  std::array<std::deque<std::function<void()>>, kUrgencies> queues_ AUGUR_GUARDED_BY(mu_);
  bool ending_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
