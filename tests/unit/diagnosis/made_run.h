// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// A run of ten seconds, told number by number. What is not told is 0 before and after.
class MadeRun {
 public:
  static constexpr uint64_t kSeconds = 10;

  MadeRun& Fact(std::string name, std::string value) {
    after_.reading.facts.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  MadeRun& Counted(Stat stat, uint64_t amount, uint64_t before = 0) {
    before_.reading.numbers.counters[static_cast<size_t>(stat)] = before;
    after_.reading.numbers.counters[static_cast<size_t>(stat)] = before + amount;
    return *this;
  }
  MadeRun& Is(Gauge gauge, uint64_t value) {
    before_.reading.numbers.gauges[static_cast<size_t>(gauge)] = value;
    after_.reading.numbers.gauges[static_cast<size_t>(gauge)] = value;
    return *this;
  }
  MadeRun& Grew(Gauge gauge, uint64_t amount) {
    after_.reading.numbers.gauges[static_cast<size_t>(gauge)] = amount;
    return *this;
  }
  // This number of times, each of so many microseconds.
  MadeRun& Took(Histogram histogram, uint64_t times, uint64_t each_us) {
    HistogramCounts& counts = after_.reading.numbers.histograms[static_cast<size_t>(histogram)];
    counts.counts[HistogramCounts::BucketOf(each_us)] += times;
    counts.sum += times * each_us;
    return *this;
  }
  MadeRun& Job(OrderReport::State state, uint64_t files_before, uint64_t files, std::string text) {
    after_.jobs.push_back(
        {.job = after_.jobs.size() + 1, .state = state, .since = 0, .text = std::move(text), .files = files});
    before_.jobs.push_back(after_.jobs.back());
    before_.jobs.back().files = files_before;
    return *this;
  }
  MadeRun& PredictsNothing() {
    after_.predicts = false;
    return *this;
  }
  // So many workers, each of which uses that part of a processor; of the machine's, that part is busy.
  MadeRun& Workers(unsigned count, double part, double machine_busy) {
    for (unsigned i = 0; i < count; ++i) {
      before_.processors.workers[100 + i] = 1'000'000;
      after_.processors.workers[100 + i] = 1'000'000 + static_cast<uint64_t>(part * kSeconds * 1e6);
    }
    return Machine(machine_busy);
  }
  MadeRun& Machine(double busy) {
    after_.processors.machine_all_us = 8 * kSeconds * 1'000'000;
    after_.processors.machine_busy_us = static_cast<uint64_t>(busy * 8 * kSeconds * 1e6);
    return *this;
  }

  RunWindow Window() const {
    RunSample after = after_;
    after.time_us = kSeconds * 1'000'000;
    return RunWindow(before_, std::move(after));
  }

 private:
  RunSample before_;
  RunSample after_;
};

// Eight cores, 64 GiB, all in order.
inline MachineFacts GoodMachine() {
  return {.cores = 8,
          .memory_bytes = uint64_t{64} << 30,
          .memory_available_bytes = uint64_t{32} << 30,
          .shm_bytes = uint64_t{32} << 30,
          .shm_free_bytes = uint64_t{32} << 30,
          .memlock_bytes = UINT64_MAX,
          .kernel_major = 6,
          .kernel_minor = 12,
          .kernel_release = "6.12.9-amd64",
          .is_root = false,
          .fusermount = "/usr/bin/fusermount3",
          .fuse_device = MachineFacts::FuseDevice::kUsable,
          .user_allow_other = true,
          .enable_uring = MachineFacts::Switch::kAbsent,
          .io_uring_refusal = "",
          .mount_read_ahead_bytes = 1 << 20};
}

}  // namespace augur
