// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "datasets/order.h"
#include "datasets/sample_lists.h"
#include "predict/identified_order.h"
#include "readers/epochs.h"
#include "recorded_runs/replay_store.h"

namespace augur {

// RunRecorder keeps the orders of one job's epochs for the next run (ReplayStore). It records two kinds of epochs:
//   - an epoch whose order was found, and follows from no order that is known beforehand;
//   - an epoch whose order was not found: nothing but the record recognises such a run when it comes again.
//
// An epoch that was broken off is not recorded: the run that comes again would be known by it, and its end never
// learnt. Nor is a look at some files, or a job of which accesses were dropped.
//
// Not synchronized. Recording waits for the disk. Memory: 4 bytes a read of an epoch whose order is not found, of twice
// `files_max` reads at most, and the record: kEpochsMax epochs and BytesMax at most.
class RunRecorder {
 public:
  struct Options {
    ReplayStore* runs = nullptr;   // nullptr: nothing is recorded
    SampleLists* lists = nullptr;  // not null where `runs` is not
    uint64_t files_max = 0;        // of the longest list
  };
  // Of ImageNet (1.28 million files) 82 MB, so that the 256 MiB of a store's records hold three runs; of twice as many
  // epochs they would hold one.
  static constexpr size_t kEpochsMax = 16;
  // Of the orders of one run, recorded or loaded.
  static constexpr uint64_t BytesMax(uint64_t files_max) { return files_max * kEpochsMax * sizeof(EntryNumber); }

  // REQUIRES: what `options` points to outlives it.
  explicit RunRecorder(const Options& options) : options_(options) {}

  // A read of an epoch whose order is not known.
  void OnRead(EntryNumber file);
  // Accesses were dropped: the reads that were seen have a gap, and none that are seen later are recorded.
  void Missed();
  // An epoch has begun whose order is known.
  void RecordKnown(const IdentifiedOrder& known);
  // An epoch whose order is not known has ended; `next`: the one that has begun, nullptr: the job has ended.
  void RecordSeen(const EpochStart* next);

 private:
  bool HasRoom(uint64_t files) const;
  bool Record(Order files);
  void Save();

  const Options options_;
  Order seen_;        // of the epoch whose order is not known, the reads that are not recorded yet
  bool gap_ = false;  // accesses were dropped
  bool cut_ = false;  // the last epoch of the record may go on
  Run record_;
  std::string name_;  // of the record; empty: nothing is recorded yet
};

}  // namespace augur
