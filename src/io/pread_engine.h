// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "io/read_engine.h"

namespace augur {

// A ReadEngine for every kernel: threads that call pread(2), one read at a time each. A thread is started when a read
// finds all others busy, and stays. `done` runs on the thread that read. Not for depths beyond kThreadsMax, where more
// threads cost more than they bring.
class PreadEngine final : public ReadEngine {
 public:
  // A local disk is saturated by 16 to 32 reads of 128 KiB in flight (measured here: 2.4 GB/s at 16, 2.9 at 32, and
  // io_uring has no more). A server 30 ms away needs 64 of 110 KB for 235 MB/s. A sleeping thread costs 16 KiB of
  // kernel stack.
  static constexpr unsigned kThreadsMax = 128;

  // `why` ends the Description. kNoSpace: not even one thread can be started; with fewer than `depth` it goes on.
  static Result<std::unique_ptr<ReadEngine>> Make(unsigned depth, const std::string& why);

  ~PreadEngine() override;
  PreadEngine(const PreadEngine&) = delete;
  PreadEngine& operator=(const PreadEngine&) = delete;
  void Submit(ReadRequest request) override;
  std::string Description() const override { return description_; }

 private:
  PreadEngine(unsigned threads_max, std::string description)
      : description_(std::move(description)), threads_max_(threads_max) {}
  void Run();
  Status StartOne() AUGUR_REQUIRES(mu_);

  const std::string description_;

  Mutex mu_;
  CondVar work_;  // queue_ has grown, or stop_
  std::vector<std::thread> threads_ AUGUR_GUARDED_BY(mu_);
  size_t threads_max_ AUGUR_GUARDED_BY(mu_);
  size_t idle_ AUGUR_GUARDED_BY(mu_) = 0;                // threads that wait for work
  std::deque<ReadRequest> queue_ AUGUR_GUARDED_BY(mu_);  // one for each read that no thread has begun
  int active_ AUGUR_GUARDED_BY(mu_) = 0;                 // threads with a read, whose `done` may still submit
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
