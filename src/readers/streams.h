// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/access.h"
#include "readers/process_table.h"

namespace augur {

// A training run, or whoever else reads. Counted from 1, never used again. 0: the readers whose job is not known.
using JobId = uint32_t;
// The reads of one process: its Process::serial. 0: the reads of which only the job is known.
using StreamId = uint32_t;

// A read of a file, with its job, stream and process where they are known.
struct StreamRead {
  EntryNumber file = 0;
  JobId job = 0;
  StreamId stream = 0;
  uint64_t time_us = 0;
  std::shared_ptr<const Process> process;  // of the stream; nullptr for stream 0
  bool again = false;                      // the same stream read it just now
  bool by_other_thread = false;            // by another thread of the process than its first
  // The file was told as an unattributed open, a read of stream 0 in this job; now its process is known.
  bool named = false;
  JobId named_job = 0;
  uint64_t unattributed = 0;  // reads that were told of stream 0 before this, in all jobs
};

// Of a read that was told, the open is told now. Opens are told in the order in which they were made, reads are ahead
// of them; so the unattributed opens before a read are known only now.
struct StreamOpen {
  EntryNumber file = 0;
  JobId job = 0;
  StreamId stream = 0;
  uint64_t unattributed = 0;  // unattributed opens that were told before this one, in all jobs
};

// Streams says who read what: it groups accesses by process, and processes into jobs.
//
// A stream is what one process reads, whichever of its threads (tf.data's pool is one stream). A job is one script with
// its workers, or the scripts of one launch with theirs. The processes that torchrun started are ranks of one run,
// those that a shell started are not. Readers whose ids are not visible here (another pid namespace) are job 0.
//
// A READ and the open of the file are one read. Each READ takes at most one open for its own, told up to kPairUs after
// it (a busy machine tells opens late) or kNameUs before. An open without a READ was served by the page cache; its
// process is not known. It is given to stream 0 of the only job that there is, or of the only one that has read in the
// last kActiveUs. Else it is given to job 0, and so it is where a reader of job 0 has read in that time.
//
// One thread at a time. Memory: kPairsMax files that wait for their other half, kJobsMax jobs, below 4 MB in all.
class Streams {
 public:
  static constexpr uint64_t kPairUs = 1'000'000;
  static constexpr uint64_t kNameUs = 50'000;
  static constexpr uint64_t kActiveUs = 60'000'000;
  static constexpr size_t kPairsMax = 8192;
  static constexpr size_t kJobsMax = 64;

  // To what an access belongs: it is a read, or tells where a read stands among the opens; neither when it was known.
  struct Attribution {
    std::optional<StreamRead> read;
    std::optional<StreamOpen> open;
  };

  // REQUIRES: `processes` outlives it.
  explicit Streams(ProcessTable* processes) : processes_(*processes) {}

  Attribution Take(const Access& access);
  // This number of accesses was lost before the next one. They count as unattributed reads, so that no
  // stream's first read behind them is taken for the first that its process made.
  void Missed(uint64_t accesses, uint64_t now_us);
  // The jobs whose processes have all gone since the last call; they will not come again. Asks the process table for
  // one process a job, mostly.
  std::vector<JobId> TakeEnded();
  // The jobs that were forgotten for a newer one, since the last call.
  std::vector<JobId> TakeForgotten() { return std::exchange(forgotten_, {}); }
  // All jobs, and reads that wait for their other half, are forgotten: the same processes that read again are other
  // jobs.
  void ForgetAll();
  // The job to which unattributed opens go.
  JobId OnlyJob(uint64_t now_us) const;
  // The number of unattributed opens of a time before this. Counts those older than the last kUnattributedMax as
  // later.
  uint64_t UnattributedBefore(uint64_t time_us) const;

 private:
  struct Job {
    JobId id = 0;
    uint64_t key = 0;
    uint64_t seen_us = 0;                                // last read that names it
    std::deque<std::shared_ptr<const Process>> scripts;  // the newest kScriptsMax
    std::deque<std::shared_ptr<const Process>> readers;  // the newest kReadersMax
  };
  // The halves of reads that wait for the other.
  struct Half {
    uint64_t number = 0;
    uint64_t time_us = 0;
    uint64_t read_us = 0;  // of reads; time_us may be that of an open told since
    JobId job = 0;
    StreamId stream = 0;
    uint32_t opens = 0;  // of reads, that are still to be told
    bool open = false;   // an open without a read
  };
  static constexpr size_t kScriptsMax = 64;
  static constexpr size_t kReadersMax = 256;
  static constexpr size_t kUnattributedMax = 4096;
  // The same file again within kAgainAccesses accesses, and kReadAgainUs for a read or kOpenAgainUs for an open, is the
  // same read. Programs open a file to look at it, then to read it. Opens are told each 5 to 10 ms.
  static constexpr uint64_t kAgainAccesses = 8;
  static constexpr uint64_t kReadAgainUs = 10'000;
  static constexpr uint64_t kOpenAgainUs = 25'000;

  StreamRead TakeRead(const Access& access);
  Attribution TakeOpen(const Access& access);
  JobId JobOf(const std::shared_ptr<const Process>& process, uint64_t now_us);
  void Forget(std::list<Job>::iterator job);
  bool IsAgain(const Half& half, uint64_t until_us, uint64_t now_us) const;
  void Wait(EntryNumber file, Half half);

  ProcessTable& processes_;
  std::list<Job> jobs_;  // kJobsMax at most, the last one to read first
  std::unordered_map<uint64_t, std::list<Job>::iterator> by_key_;
  std::unordered_map<StreamId, std::list<Job>::iterator> by_reader_;
  uint64_t invisible_seen_us_ = 0;  // last read of thread 0
  bool invisible_seen_ = false;
  std::vector<JobId> forgotten_;
  JobId last_job_ = 0;
  std::unordered_map<EntryNumber, Half> waiting_;
  std::deque<std::pair<EntryNumber, uint64_t>> waiting_since_;  // file and Half::number, kPairsMax at most
  uint64_t number_ = 0;                                         // accesses so far
  uint64_t unattributed_ = 0;
  std::deque<uint64_t> unattributed_times_;  // of the last kUnattributedMax of them
};

}  // namespace augur
