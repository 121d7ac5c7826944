// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "prefetch/planner.h"

namespace augur::sim {

struct Disk {
  double reads_per_second = 70'000;
  double bytes_per_second = 2e9;
  double latency_us = 100;
};

struct World {
  uint32_t file_count = 10'000;
  double file_bytes_mean = 110e3;
  uint64_t seed = 1;
  Disk disk;
  PlannerLimits limits;
  ProgressOptions progress;
  double reader_us = 20;              // a file, when it is in the page cache
  double push_us_per_byte = 0.00028;  // 3.5 GB/s
  bool opens_seen = true;
};

struct EpochResult {
  double seconds = 0;
  uint64_t delivered_bytes = 0;
  uint64_t files = 0;
  uint64_t from_page_cache = 0;
  uint64_t from_memory = 0;  // held or kept
  uint64_t waited = 0;       // for a read of the planner's that was under way
  uint64_t demand_reads = 0;
  uint64_t disk_bytes = 0;
  uint64_t disk_reads = 0;
};

// The planner with a disk, a page cache and one reader that are all made of arithmetic; time is simulated. Fails when a
// limit is exceeded or a decision makes no sense.
class Simulation {
 public:
  explicit Simulation(const World& world);
  // Reads an epoch in this order; orders are given to the planner by Append before.
  EpochResult Read(const Order& order);
  Planner& planner() { return *planner_; }
  Order Shuffled(uint64_t seed) const;
  Order Listing() const;
  uint64_t total_bytes() const { return total_bytes_; }
  double now_us() const { return now_us_; }
  uint64_t wasted_bytes() const;
  std::vector<std::string> violations;

 private:
  struct Event {
    double at = 0;
    uint64_t number = 0;
    std::function<void()> what;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  void At(double time, std::function<void()> what);
  void Pump();
  void Keep(EntryNumber file, const KeepPlan& plan);
  double DiskDone(uint64_t bytes);
  void RunUntil(const std::function<bool()>& done);
  void Check();

  const World world_;
  std::vector<FilePlace> places_;
  uint64_t total_bytes_ = 0;
  std::unique_ptr<Planner> planner_;
  std::priority_queue<Event> events_;
  uint64_t event_count_ = 0;
  double now_us_ = 0;
  double disk_reads_free_us_ = 0;
  double disk_bytes_free_us_ = 0;
  bool pushing_ = false;
  std::set<EntryNumber> page_cache_, held_, kept_;
  std::unordered_map<EntryNumber, int> reading_;
  uint64_t kept_bytes_ = 0, page_cache_bytes_ = 0;
  EpochResult result_;
};

}  // namespace augur::sim
