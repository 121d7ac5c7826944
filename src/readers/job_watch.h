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

#include "readers/epochs.h"
#include "readers/file_set.h"
#include "readers/job_pass.h"
#include "readers/last_readers.h"
#include "readers/streams.h"

namespace augur {

// What all jobs share.
struct JobWatchShared {
  const EpochOptions& options;
  const Streams& streams;
  FileSetBudget& budget;
  size_t& first_reads_left;  // of EpochOptions::all_first_reads_max
  std::vector<EpochWatch::Event>& events;
};

// JobWatch is the part of EpochWatch that watches one job: its passes over files, and which pass each of its streams is
// in. How a pass is recognised is said there. One thread at a time. Memory, beside what EpochOptions bounds: 500 KB,
// and up to 4 KB a stream while it may be going on into another pass.
class JobWatch {
 public:
  // An unattributed read.
  struct UnattributedRead {
    EntryNumber file = 0;
    uint64_t time_us = 0;
    uint32_t pass = 0;
    bool added = false;  // to the files of its pass
  };

  JobWatch(JobId id, const JobWatchShared& shared) : id_(id), shared_(shared) {}
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Takes a read of this job; returns the number of its pass and, when it is a second read of the same stream at once,
  // nothing else is done.
  uint32_t Read(const StreamRead& read);
  // Takes the open of a read.
  void Open(const StreamOpen& open);
  // Forgets a read of stream 0: it is known now whose it is.
  void Withdraw(EntryNumber file);
  // Gives away the last reads of stream 0 from this time on; takes such of another job into the running pass.
  std::vector<UnattributedRead> TakeUnattributedSince(uint64_t time_us);
  void Adopt(const std::vector<UnattributedRead>& reads);

  // The newest pass if `number` is not given. None: it is not there, or is forgotten.
  std::optional<EpochStart> Get(std::optional<uint32_t> number) const;
  std::optional<EpochWatch::Kept> KeptReads() const;

 private:
  static constexpr size_t kPassesMax = 4;        // that streams are in at the same time
  static constexpr size_t kDatasetsMax = 4;      // of which the files are remembered
  static constexpr uint32_t kDatasetReads = 32;  // by which the dataset of a pass is known
  static constexpr size_t kPendingMax = 256;
  static constexpr size_t kUnattributedMax = 4096;

  // Files that passes go over.
  struct Dataset {
    Dataset(uint32_t id_in, FileSetBudget* budget) : id(id_in), files(budget) {}
    const uint32_t id;
    FileSet files;
    uint32_t passes = 0;
    uint32_t process_passes = 0;  // begun by new processes
    uint64_t pass_files_max = 0;  // of the passes that are over
  };
  // Whether a read's file is new among those of its pass, and of its dataset.
  struct Added {
    bool to_pass = false;
    bool to_dataset = false;
  };
  // A read that may be of the next pass.
  struct PendingRead {
    EntryNumber file = 0;
    Added added;
    uint64_t time_us = 0;
  };
  // Where a stream is.
  struct Follow {
    uint32_t pass = 0;
    double bits = 0;                   // of evidence that the stream has gone on, since `pending` began
    std::vector<PendingRead> pending;  // the last reads: those that are of the next pass if there is one
    EntryNumber folder = 0;
    uint32_t in_folder = 0;      // reads in this folder, one after another
    EntryNumber new_folder = 0;  // of the reads after these
    std::vector<PendingRead> new_folder_reads;
    uint64_t unattributed = 0;  // told before its last read that was surely of `pass`
  };
  JobPass* Find(uint32_t number);
  Dataset* FindDataset(uint32_t id);
  JobPass& Begin(uint64_t unattributed);
  // The pass that a new stream begins to read in.
  JobPass& PassFor(const StreamRead& read);
  Follow& Start(StreamId id, const StreamRead& read);
  JobPass& BeginByProcess(const StreamRead& read);
  // Forgets the pass that was read in longest ago, and the streams that are in it.
  void Retire();
  Added Append(JobPass& pass, StreamId id, const std::shared_ptr<const Process>& process, FirstRead read);
  // Takes the stream's last reads in the pass back; returns them as first reads.
  std::vector<FirstRead> TakeBack(JobPass& pass, StreamId id, const std::vector<PendingRead>& last);
  // The stream goes on into the next pass, to which its last reads belong.
  void GoOn(Follow& follow, StreamId id, const StreamRead& read, bool by_folder);
  // Whether the stream has gone over to another folder.
  bool FollowFolder(Follow& follow, PendingRead read) const;
  double BitsNeeded(const JobPass& pass) const;
  bool Complete(const JobPass& pass) const;
  void Judge(JobPass& pass, EntryNumber file);
  void AssignDataset(JobPass& pass, std::optional<uint32_t> dataset);
  EpochStart Describe(const JobPass& pass) const;

  const JobId id_;
  const JobWatchShared shared_;
  std::list<std::unique_ptr<JobPass>> passes_;    // kPassesMax at most, the newest last
  std::list<std::unique_ptr<Dataset>> datasets_;  // kDatasetsMax at most, the last one used last
  uint32_t next_pass_ = 0;
  uint32_t next_dataset_ = 0;
  std::unordered_map<StreamId, Follow> follows_;
  LastReaders last_readers_;
  uint64_t number_ = 0;                        // reads so far
  std::deque<UnattributedRead> unattributed_;  // the last kUnattributedMax of stream 0
};

}  // namespace augur
