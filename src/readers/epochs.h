// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "readers/access.h"
#include "readers/streams.h"

namespace augur {

// One of the first reads of a stream in an epoch.
struct FirstRead {
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  EntryNumber file = 0;
  // The number of unattributed reads of this epoch before it: at most that many are this stream's, or that
  // of any other. kUnknown where opens are not told, or this one's not yet.
  uint32_t unattributed_before = kUnknown;
};

// What one process reads in an epoch.
struct EpochStream {
  StreamId id = 0;
  uint32_t pid = 0;         // 0 for stream 0
  uint64_t start_us = 0;    // of the process
  uint32_t script_pid = 0;  // of the process for which it reads, maybe itself
  LaunchFacts launch;       // of the script
  // It reads by other threads than the process's first, as TensorFlow does; torch's loaders have processes for that.
  bool multithreaded = false;
  // Its first read is the first that the process made in this epoch: nothing was, or can have been, overlooked.
  bool starts_at_first_read = false;
  std::vector<FirstRead> reads;  // the first of them, in order
  uint64_t read_count = 0;       // all of them
};

// The running epoch of a job, from its first read on.
struct EpochStart {
  JobId job = 0;
  uint32_t pass = 0;  // passes of this job before it, over whatever files
  // Which of the datasets that the job reads in turn (training, validation): they are counted as they come. A
  // guess until some reads were seen.
  uint32_t dataset = 0;
  uint32_t epoch = 0;  // passes over this dataset before it
  // It began with new processes; otherwise by files that came again, or that are others.
  bool new_processes = false;
  // Files that were seen to be read, each counted once; and how many the last pass over the dataset had in the end (0:
  // there was none).
  uint64_t files = 0;
  uint64_t dataset_files = 0;
  // In the order of their numbers, where processes tell it: by rank, then by start and pid. Stream 0, if any, is last.
  std::vector<EpochStream> streams;
};

struct EpochOptions {
  size_t first_reads_max = 4096;           // of each stream
  size_t streams_max = 1024;               // of each job; further ones are counted as stream 0
  size_t all_first_reads_max = 1'048'576;  // of all jobs together, 8 MB
  uint64_t set_bytes_max = 128 << 20;      // for all sets of files: 80 MB are 5 jobs of 10^8 files with one set each.
  // The folder of a file that tells training from validation, mostly the one below the root. nullptr: not known.
  std::function<EntryNumber(EntryNumber)> folder_of;
};

class FileSetBudget;
class JobWatch;

// EpochWatch recognises for each job where an epoch begins, and keeps its first reads.
//
// An epoch begins with a job. It begins with processes that were started after the script's last ones had begun to read
// (workers that are not persistent). For a stream that goes on it begins with files that come again. That is told by
// Page's test of "each file once" against "half of the files were read before", at 24 bits, which is six repetitions in
// a row. One repetition is enough when as many files were read as in the last epoch. A stream changes by itself, so a
// loader that begins the next epoch's first batches before the last ones of this are read is followed. A stream that
// goes over to another folder for good (validation between the epochs) begins a pass, too. Passes over the same files
// are epochs of one dataset.
//
// What it cannot see: an epoch of a sampler with replacement has no end. And a pass that was broken off in the first
// sixth and begun again by the same processes goes on for it. Neither is an order that could be predicted from its
// beginning.
//
// One thread at a time, no clock. Memory: what EpochOptions bounds (twice that for first reads, where vectors grow),
// and the table of processes. A job takes 500 KB (64 and job 0 at most: 33 MB), and a stream in its last four passes 1
// KB.
class EpochWatch {
 public:
  enum class What {
    kBegun,    // an epoch: Running(job) is a new one; reads that OnAccess gave to the last one may have become its
    kSettled,  // dataset and epoch of the running epoch were wrong, and now are right
    kEnded,    // the job: its processes have gone, or it is the one of 65 that was silent longest
  };
  struct Event {
    JobId job = 0;
    uint32_t pass = 0;
    What what = What::kBegun;
  };
  // A read, and the job, pass and stream to which it belongs by the accesses until now.
  struct PassRead {
    EntryNumber file = 0;
    JobId job = 0;
    uint32_t pass = 0;  // before that of Running(job) for a stream that is still in the last epoch
    StreamId stream = 0;
    bool again = false;  // as in StreamRead
  };

  // REQUIRES: `processes` outlives it.
  explicit EpochWatch(ProcessTable* processes, EpochOptions options = {});
  ~EpochWatch();
  EpochWatch(const EpochWatch&) = delete;
  EpochWatch& operator=(const EpochWatch&) = delete;

  // None: it was known already (the open of a READ).
  std::optional<PassRead> OnAccess(const Access& access);
  // To be called now and then, once a second say: finds the jobs that have ended.
  void Tick(uint64_t now_us);
  // This number of accesses was lost before the next one: reads or opens of any process.
  void Missed(uint64_t accesses, uint64_t now_us) { streams_.Missed(accesses, now_us); }
  // Ends all jobs, without an event: reads will not be told for a while. A process that reads after that is of a new
  // job, and in its first pass.
  void ForgetAll();
  // What has happened since the last call, in order. To be called after each few reads: they are kept until then.
  std::vector<Event> TakeEvents();
  // A copy of the running epoch; none for a job that is not there (any more). Job 0 is there once an unattributed
  // access was read.
  std::optional<EpochStart> Running(JobId job) const;
  // How many first reads Running would give, and of which pass, without a copy of them.
  struct Kept {
    uint32_t pass = 0;
    uint64_t reads = 0;
  };
  std::optional<Kept> KeptReads(JobId job) const;
  // A pass of the job, one of its last four. Two loaders may run side by side, and streams of an epoch may still read
  // when the next one has begun. None: it is not there (any more).
  std::optional<EpochStart> Pass(JobId job, uint32_t pass) const;
  std::vector<JobId> Jobs() const;

 private:
  static constexpr uint64_t kTickUs = 500'000;

  JobWatch& Job(JobId id);
  void Forget(const std::vector<JobId>& jobs);

  const EpochOptions options_;
  Streams streams_;
  std::unique_ptr<FileSetBudget> budget_;  // before jobs_, which give back to it
  size_t first_reads_left_;
  uint64_t ticked_us_ = 0;
  std::unordered_map<JobId, std::unique_ptr<JobWatch>> jobs_;
  std::vector<Event> events_;
};

}  // namespace augur
