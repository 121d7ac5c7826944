// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "order/process_table.h"
#include "order/sighting.h"

namespace augur {

// A training run, or whoever else reads. Counted from 1, never used again. 0: the readers whose job is not known.
using JobId = uint32_t;
// The reads of one process: its Process::serial. 0: the reads of which only the job is known.
using StreamId = uint32_t;

// A read of a file, with what is known of who read it.
struct StreamRead {
  EntryNumber file = 0;
  JobId job = 0;
  StreamId stream = 0;
  uint64_t time_us = 0;
  std::shared_ptr<const Process> process;  // of the stream; nullptr for stream 0
  // The file was told before: as an open that nobody could be named for, or it is the same process again at once.
  bool again = false;
};

// Of a read that was told, the open is told now. Opens are told in the order in which they were made, reads are ahead
// of them; so what was before a read is known only now.
struct StreamOpen {
  EntryNumber file = 0;
  JobId job = 0;
  StreamId stream = 0;
};

// Streams says who read what: it groups sightings by process, and processes into jobs.
//
// A stream is what one process reads, whichever of its threads (tf.data's pool is one stream). A job is one script with
// its workers, or the scripts of one launch with theirs: the processes that torchrun started are ranks of one run,
// those that a shell started are not. Readers whose ids are not visible here (another pid namespace) are job 0.
//
// A READ and the open of the file are one read: each READ takes at most one open for its own, made up to kPairUs
// before or after. An open without a READ was served by the page cache; nobody knows whose it is. It is given to the
// only job that has read in the last kActiveUs, if there is just one, to its stream 0; else to job 0.
//
// One thread at a time. Memory: kPairsMax files that wait for their other half, kJobsMax jobs, below 1 MB in all.
class Streams {
 public:
  static constexpr uint64_t kPairUs = 1'000'000;
  static constexpr uint64_t kActiveUs = 60'000'000;
  static constexpr size_t kPairsMax = 8192;
  static constexpr size_t kJobsMax = 64;

  // What a sighting tells: a read, or where a read stands among the opens; neither when it was known.
  struct Told {
    std::optional<StreamRead> read;
    std::optional<StreamOpen> open;
  };

  // REQUIRES: `processes` outlives it.
  explicit Streams(ProcessTable* processes) : processes_(*processes) {}

  Told Take(const Sighting& sighting);
  // The jobs whose processes have all gone since the last call; they will not come again. Also those that were
  // forgotten for a newer one. Asks the process table for one process a job, mostly.
  std::vector<JobId> TakeEnded();
  // The job to which opens go that nobody can be named for.
  JobId only_job(uint64_t now_us) const;

 private:
  struct Job {
    JobId id = 0;
    uint64_t key = 0;
    uint64_t seen_us = 0;                                  // last read that names it
    std::deque<std::shared_ptr<const Process>> processes;  // scripts and readers, kProcessesMax newest
  };
  // The halves of reads that wait for the other.
  struct Half {
    uint64_t number = 0;
    uint64_t time_us = 0;
    JobId job = 0;
    StreamId stream = 0;
    bool read = false;  // an open otherwise
  };
  static constexpr size_t kProcessesMax = 64;

  JobId JobOf(const std::shared_ptr<const Process>& process, uint64_t now_us);
  void Wait(EntryNumber file, Half half);

  ProcessTable& processes_;
  std::list<Job> jobs_;  // the last one to read first
  std::unordered_map<uint64_t, std::list<Job>::iterator> by_key_;
  std::vector<JobId> forgotten_;
  JobId last_job_ = 0;
  std::unordered_map<EntryNumber, Half> waiting_;
  std::deque<std::pair<EntryNumber, uint64_t>> waiting_since_;  // file and Half::number
  uint64_t number_ = 0;
};

}  // namespace augur
