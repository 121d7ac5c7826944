// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "io/read_engine.h"

namespace augur {

// What a bad disk does, as shares of its reads from 0 to 1. What a read gets depends on the seed, on its place, and on
// how often that place was read before; only the times depend on the threads.
struct Hostility {
  uint64_t seed = 1;
  uint64_t large_bytes = UINT64_MAX;  // reads of more fail with EIO, all of them
  double eio = 0;                     // fail with EIO
  double cut = 0;                     // end early, anywhere
  double flip = 0;                    // have one wrong bit
  double flip_again = 0;              // ... when they bring a sector that was read before, in such a sector
  std::chrono::microseconds late_max{0};
};

// HostileEngine reads through another engine and makes of it what a bad disk may: failures, short and late reads, wrong
// bytes, other bytes at the second read, and ends in any order. A read that fails or is short leaves noise in the
// memory behind what it has read. All of that happens before `done`. Who reads through it must deliver the right bytes
// or a failure.
class HostileEngine final : public ReadEngine {
 public:
  struct Counts {
    uint64_t reads = 0;
    uint64_t failed = 0;
    uint64_t cut = 0;
    uint64_t flipped = 0;
  };

  HostileEngine(std::unique_ptr<ReadEngine> base, const Hostility& hostility);
  ~HostileEngine() override;
  HostileEngine(const HostileEngine&) = delete;
  HostileEngine& operator=(const HostileEngine&) = delete;

  void Submit(ReadRequest request) override;
  std::string Description() const override;

  // From now on the disk is as good as the one below.
  void BeGood();
  Counts counts() const;

 private:
  struct Ended {
    ReadRequest request;
    int64_t result = 0;
  };

  int64_t Spoil(const ReadRequest& request, int64_t result) AUGUR_REQUIRES(mu_);
  void Run();

  // Constant after construction.
  const Hostility hostility_;

  mutable Mutex mu_;
  CondVar changed_;
  bool good_ AUGUR_GUARDED_BY(mu_) = false;
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;
  uint64_t under_way_ AUGUR_GUARDED_BY(mu_) = 0;  // until `done` has returned
  std::vector<Ended> ended_ AUGUR_GUARDED_BY(mu_);
  std::map<uint64_t, uint64_t> times_read_ AUGUR_GUARDED_BY(mu_);  // by sector
  std::mt19937_64 order_ AUGUR_GUARDED_BY(mu_);
  Counts counts_ AUGUR_GUARDED_BY(mu_);

  std::unique_ptr<ReadEngine> base_;
  std::thread thread_;
};

}  // namespace augur
