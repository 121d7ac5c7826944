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
  // Both limits are enforced as a control group does it (Throttle), in slices of this length. 0: evenly.
  uint64_t slice_us = 0;
  double device_bytes_per_second = 500e6;  // and this is how fast what was let through is read
};

// The kernel's blk-throttle (block/blk-throttle.c: tg_may_dispatch, throtl_trim_slice), in which a slice's reads and
// bytes may be had at its beginning, and what is asked for beyond them waits for its end.
class Throttle {
 public:
  // When a read that is asked for now is let through. REQUIRES: time does not go back.
  uint64_t LetThrough(const Disk& disk, uint64_t bytes, uint64_t now_us);

 private:
  uint64_t slice_begin_us_ = 0;
  uint64_t slice_end_us_ = 0;
  uint64_t bytes_ = 0;  // let through since the slice has begun
  uint64_t reads_ = 0;
  uint64_t last_us_ = 0;
};

struct World {
  uint32_t file_count = 10'000;
  double file_bytes_mean = 110e3;
  uint64_t seed = 1;
  Disk disk;
  DiskModel disk_model;  // what is known of it at the beginning
  PlannerLimits limits;
  ReaderPositionOptions progress;
  // Somebody else has the processor for up to this part of each 50 ms, at random: what ends meanwhile is noticed after
  // it.
  double processor_taken = 0;
  double reader_us = 20;              // a file, when it is in the page cache
  double push_us_per_byte = 0.00028;  // 3.5 GB/s
  double stat_us = 200;               // until the kernel knows a file that it was asked to look up
  bool opens_seen = true;
  uint64_t retained_cache_takes_bytes = UINT64_MAX;  // when it turns out to be smaller than the planner was told
  std::function<bool(EntryNumber)> reads_fail;       // the planner's; those who ask for the file itself get it
  std::function<PushOutcome(EntryNumber)> push_outcome;
  std::function<bool(uint64_t read_id)> no_memory;  // for this read: it is put back
};

// What readers of one Read() got, and what that took.
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
  uint64_t planned_files = 0;  // that the planner had read

  double bytes_per_second() const { return static_cast<double>(delivered_bytes) / seconds; }
};

// The planner with a disk, a page cache and readers that are all made of arithmetic; time is simulated. What must never
// be (a limit exceeded, a decision that makes no sense) is collected in `violations`.
class Simulation {
 public:
  explicit Simulation(const World& world);
  // One reader reads these files; orders are given to the planner by Append before.
  EpochResult Read(const Order& order) { return ReadSideBySide({order}); }
  // A reader for each order, all at once.
  EpochResult ReadSideBySide(const std::vector<Order>& orders);
  // Goes on without readers until nothing is under way.
  EpochResult Settle();
  // The kernel takes the file's pages back, and tells nobody.
  void Reclaim(EntryNumber file) { OutOfPageCache(file); }
  // Forgets all epochs and empties the page cache and the retained cache; what is left then must be nothing.
  void End();

  Planner& planner() { return *planner_; }
  const DiskModel& disk_model() const { return disk_model_; }
  Order Shuffled(uint64_t seed) const;
  Order Listing() const;
  uint64_t total_bytes() const { return total_bytes_; }
  double now_us() const { return now_us_; }
  bool InPageCache(EntryNumber file) const { return page_cache_.contains(file); }
  bool Retained(EntryNumber file) const { return retained_.contains(file); }
  uint64_t page_cache_bytes() const { return page_cache_bytes_; }
  uint64_t retained_bytes() const { return retained_bytes_; }
  const std::unordered_map<EntryNumber, int>& failed() const { return failed_; }  // reads of the planner's, by file
  const std::unordered_map<EntryNumber, int>& stats() const { return stats_; }
  // Different ones, with their number.
  std::string ViolationText() const;
  std::vector<std::string> violations;

 private:
  struct Event {
    double at = 0;
    uint64_t number = 0;
    std::function<void()> what;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  struct Reader {
    const Order* order = nullptr;
    size_t next = 0;
  };
  void At(double time, std::function<void()> what);
  void Pump();
  void PumpReads();
  void PumpPushes();
  uint64_t WindowMost() const;
  void Arrive(const ReadPlan& read);
  void Retain(EntryNumber file, const RetainPlan& plan);
  double DiskDone(uint64_t bytes);
  double Noticed(double time_us) const;
  void RunUntil(const std::function<bool()>& done);
  bool Step();
  void Begin(Reader* reader);
  void Deliver(Reader* reader, EntryNumber file, bool missed);
  void IntoPageCache(EntryNumber file);
  void OutOfPageCache(EntryNumber file);
  void Check();

  const World world_;
  std::vector<FilePlace> places_;
  uint64_t total_bytes_ = 0;
  DiskModel disk_model_;
  std::unique_ptr<Planner> planner_;
  std::priority_queue<Event> events_;
  uint64_t event_count_ = 0;
  double now_us_ = 0;
  double disk_reads_free_us_ = 0;
  double disk_bytes_free_us_ = 0;  // with slices: the device
  Throttle throttle_;
  bool pushing_ = false;
  uint64_t readers_ = 1;
  std::set<EntryNumber> page_cache_, held_, retained_;
  std::unordered_map<EntryNumber, int> reading_;
  std::unordered_map<EntryNumber, std::vector<Reader*>> waiting_;
  std::unordered_map<EntryNumber, int> failed_, stats_;
  uint64_t retained_bytes_ = 0, page_cache_bytes_ = 0, retained_bytes_max_ = 0;
  EpochResult result_;
};

// One reader reads a shuffled epoch that the planner knows beforehand.
EpochResult ReadEpoch(Simulation* simulation, uint64_t epoch);
// Ends it: nothing that must never be has been, and nothing is left.
void ExpectNoViolation(Simulation* simulation);

}  // namespace augur::sim
