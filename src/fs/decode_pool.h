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
// other work: that could last for ever. The queues have no maximum of their own. RenderedFiles adds work only for
// images that have memory of its budget, and work that is only predicted for ahead() + 1 images at a time.
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

  // Runs `work` on one of the threads. `subject`: what Hurry knows it by. REQUIRES: the pool is not being destroyed,
  // but by what it runs.
  void Run(Urgency urgency, std::function<void()> work, const void* subject = nullptr);
  // A reader waits for the predicted work of this subject now: it goes behind the other work for readers. Work that has
  // begun, or is not there, stays as it is. Takes as long as the queue of predicted work is.
  void Hurry(const void* subject);

  // The number of threads that run both classes.
  unsigned ahead() const { return ahead_; }

 private:
  struct Item {
    std::function<void()> work;
    const void* subject;
  };
  using Queue = std::deque<Item>;  // one for each image that has memory of RenderedFiles
  static constexpr size_t kUrgencies = 2;

  DecodePool() = default;
  void Work(bool only_demand);
  // The queue to take from; nullptr: there is nothing to do.
  Queue* Next(bool only_demand) AUGUR_REQUIRES(mu_);
  Queue& Of(Urgency urgency) AUGUR_REQUIRES(mu_) { return queues_[static_cast<size_t>(urgency)]; }

  // Constant after Start.
  unsigned ahead_ = 0;
  std::vector<std::thread> threads_;

  Mutex mu_;
  CondVar wake_;  // all threads
  std::array<Queue, kUrgencies> queues_ AUGUR_GUARDED_BY(mu_);
  bool ending_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
