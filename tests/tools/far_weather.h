// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace augur {

// Weather is what the commands of a far_folder change, and what they ask for. Safe from any thread.
class Weather {
 public:
  explicit Weather(int delay) : delay_ms(delay) {}

  // At the beginning of each request.
  void WaitForAnswers() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    while (paused_) resumed_.Wait(mu_);
  }
  void Pause(bool paused) AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    paused_ = paused;
    resumed_.NotifyAll();
  }

  void CountOpen() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    ++opens_;
  }
  void BeginRead(size_t bytes) AUGUR_EXCLUDES(mu_) {
    {
      const MutexLock lock(mu_);
      ++reads_;
      bytes_ += bytes;
      in_flight_max_ = std::max(in_flight_max_, ++in_flight_);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
  }
  void EndRead() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    --in_flight_;
  }
  std::string TakeCounters() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    const nlohmann::json counters = {{"opens", std::exchange(opens_, 0)},
                                     {"reads", std::exchange(reads_, 0)},
                                     {"bytes", std::exchange(bytes_, 0)},
                                     {"in_flight_max", std::exchange(in_flight_max_, in_flight_)}};
    return counters.dump();
  }

  // Whether the read that has just come is one of each `every`; 0: none is.
  bool IsHit(const std::atomic<unsigned>& every) {
    const unsigned rate = every;
    return rate != 0 && hits_++ % rate == 0;
  }

  std::atomic<int> delay_ms;
  std::atomic<unsigned> fail_every = 0;  // reads of which one gives EIO
  std::atomic<unsigned> flip_every = 0;  // reads with O_DIRECT of which one has a wrong bit
  std::atomic<bool> is_short = false;
  std::atomic<int> stale_read_errno = ESTALE;

 private:
  std::atomic<unsigned> hits_ = 0;

  Mutex mu_;
  CondVar resumed_;
  bool paused_ AUGUR_GUARDED_BY(mu_) = false;
  uint64_t opens_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t reads_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t in_flight_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t in_flight_max_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
