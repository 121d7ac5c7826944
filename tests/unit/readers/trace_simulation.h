// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "readers/access.h"
#include "unit/readers/fake_processes.h"

namespace augur {

// How a job reads. The rules are PyTorch's: batch b goes to worker b mod k, k times p batches at the beginning, then
// one for each that is consumed; a worker reads its batches in order.
struct JobPlan {
  // The files of an epoch in the sampler's order, all ranks together.
  std::function<Order(uint64_t epoch)> order;
  uint64_t epochs = 3;
  uint32_t workers = 4;  // of each rank; 0: the script reads
  uint32_t batch = 32;
  uint32_t prefetch = 2;
  bool persistent = false;
  bool in_order = true;
  bool overlapping = false;  // begins the next epoch's batches before the epoch ends (persistent only)
  uint32_t ranks = 1;        // rank r reads places r, r + ranks, ... as DistributedSampler does, padding included
  std::vector<uint32_t> local_ranks;  // those of this host, whose reads are seen; all if empty
  bool launch_told = true;            // the launcher names rank and world size in the environment
  uint32_t threads = 0;               // tf.data: so many threads of the script read, instead of workers
  uint64_t resume_batch = 0;          // the first epoch begins here
  // Read in order after each epoch by processes of its own, or by the script when it has no workers; none if empty.
  Order validation;
  uint32_t validation_workers = 0;
  double hits = 0;  // share of files that the page cache serves: only an open is told, or nothing
  double opened_twice = 0;
  bool visible = true;  // process ids
  uint64_t start_us = 1'000'000;
  double file_us = 4000;   // mean time to read a file
  double step_us = 2000;   // time to consume a batch
  double gap_us = 50'000;  // between epochs, and 20 ms more
};

// A read that was made, whether or not anything of it is told.
struct TrueRead {
  uint64_t time_us = 0;
  EntryNumber file = 0;
  uint32_t job = 0;  // in the order of AddJob
  uint32_t rank = 0;
  bool validation = false;
  uint64_t epoch = 0;
  uint64_t place = 0;  // in the rank's part of the epoch
  uint32_t pid = 0;
  uint32_t thread = 0;
  bool cached = false;
};

// TraceSimulation makes up what would be seen of jobs that read one mount, and knows who read what. The same seed gives
// the same trace.
class TraceSimulation {
 public:
  // `opens`: opens are told, as by inotify: all of them in order, up to 10 ms late.
  TraceSimulation(uint64_t seed, bool opens) : random_(seed), opens_(opens) {}

  // Returns the job's number, from 0.
  uint32_t AddJob(const JobPlan& plan);
  // Somebody who reads these files in this order.
  uint32_t AddStranger(const Order& files, uint64_t start_us, double file_us);

  // All accesses in the order in which they are told. Before each is used, processes().SetNow(time_us) is to be
  // called.
  std::vector<Access> Accesses();
  // All reads by time.
  const std::vector<TrueRead>& Reads();
  FakeProcesses& processes() { return processes_; }
  std::mt19937_64& random() { return random_; }

 private:
  struct Item {
    EntryNumber file;
    uint64_t epoch;
    uint64_t place;
  };
  using Batch = std::vector<Item>;
  struct Loader {
    uint32_t job = 0;
    uint32_t rank = 0;
    bool validation = false;
    std::vector<uint32_t> readers;  // pids
    uint32_t threads = 0;
  };

  // The loader reads the batches from this time on; returns when the last was consumed.
  uint64_t Load(const JobPlan& plan, const Loader& loader, const std::vector<Batch>& batches, uint64_t now_us);
  uint64_t LoadByThreads(const JobPlan& plan, const Loader& loader, const std::vector<Batch>& batches, uint64_t now_us);
  uint64_t ReadBatch(const JobPlan& plan, const Loader& loader, uint32_t pid, const Batch& batch, uint64_t now_us);
  void AddRead(const JobPlan& plan, const Loader& loader, uint32_t pid, uint32_t thread, const Item& item,
               uint64_t now_us);
  std::vector<uint32_t> ForkWorkers(uint32_t script, uint32_t count, uint64_t* now_us);
  double Some(double mean);  // exponential

  std::mt19937_64 random_;
  const bool opens_;
  FakeProcesses processes_;
  uint32_t shell_ = 0;
  uint32_t jobs_ = 0;
  std::vector<TrueRead> reads_;
  std::vector<bool> visible_;         // by job
  std::vector<double> opened_twice_;  // by job
};

// 0 to count - 1, plus `first`, shuffled.
Order ShuffledFiles(EntryNumber first, uint32_t count, uint64_t seed);

// Each epoch another order of so many files, from 100 on.
JobPlan ShuffledPlan(uint32_t files, uint64_t seed);

// The files that each process read in an epoch, in its order.
std::map<uint32_t, Order> StreamsOf(const std::vector<TrueRead>& reads, uint32_t job, uint64_t epoch,
                                    bool validation = false);

}  // namespace augur
