// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "readers/epochs.h"
#include "readers/file_set.h"
#include "readers/streams.h"

namespace augur {

// JobPass is one pass of a job over some files: the files, the streams that read them, and the first reads of each
// stream. JobWatch decides which reads are of the pass, and of which dataset. One thread at a time.
// REQUIRES: what it is given outlives it.
struct JobPass {
  // What one stream read in the pass.
  struct Stream {
    std::shared_ptr<const Process> process;
    bool exact_start = false;      // no read of it in this pass can have been before the first, if all are told
    bool multithreaded = false;    // some of it was read by another thread than the process's first
    std::vector<FirstRead> reads;  // unattributed_before counts from the beginning of the program
    uint64_t read_count = 0;
  };

  // `first_reads_left_in`: of EpochOptions::all_first_reads_max. The pass takes its first reads from it, and gives them
  // back when it ends.
  JobPass(uint32_t number_in, FileSetBudget* budget, size_t* first_reads_left_in)
      : number(number_in), first_reads_left(*first_reads_left_in), files(budget) {}
  ~JobPass();
  JobPass(const JobPass&) = delete;
  JobPass& operator=(const JobPass&) = delete;

  // A read of the stream, kept if it is one of its first `first_reads_max`. Whether the file is new in this pass.
  bool Add(StreamId id, const std::shared_ptr<const Process>& process, FirstRead read, size_t first_reads_max);
  // Takes back the last reads of the stream, which are of the files in `last`. Fills in there the unattributed_before
  // of each read that the stream has kept.
  void TakeBack(StreamId id, std::vector<FirstRead>* last);
  // The open of a read.
  void Open(const StreamOpen& open);
  // Takes a read of stream 0 back; `added`: its file was new in this pass.
  void Withdraw(EntryNumber file, bool added);

  // Some stream is of a process that was started as one rank of several.
  bool OfRanks() const;
  // How many first reads Describe gives.
  uint64_t FirstReads() const;
  EpochStart Describe(JobId job, uint64_t dataset_files) const;

  const uint32_t number;
  size_t& first_reads_left;
  std::optional<uint32_t> from;  // streams went on into this one from that pass
  bool by_folder = false;        // as they went to another folder
  bool new_processes = false;
  uint64_t start_us = 0;   // of the first process; without, when the first read was told
  uint64_t last_read = 0;  // the number of the job's reads then
  bool settled = false;    // its dataset is known
  uint32_t dataset = 0;
  uint32_t epoch = 0;
  FileSet files;
  uint64_t read_count = 0;
  uint64_t unattributed = 0;  // how many reads were told without a name, in all jobs, before it began
  std::unordered_map<StreamId, Stream> streams;
  std::unordered_map<uint32_t, uint64_t> scripts;  // when the first reader for it came, by serial
  Order unsettled;                                 // files read while the dataset is not known
  std::unordered_map<uint32_t, uint32_t> hits;     // of these, by dataset
};

}  // namespace augur
