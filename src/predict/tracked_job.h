// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "predict/job_predictor.h"
#include "predict/job_search.h"
#include "predict/run_recorder.h"
#include "readers/epochs.h"

namespace augur {

// TrackedJob is a job, and what each part of the prediction knows of it. While its order is not known, `search` looks
// for it and `recorder` keeps its reads; while it is known, `prediction` follows it. Not synchronized.
struct TrackedJob {
  TrackedJob(JobId id, double core_seconds_max, const RunRecorder::Options& record)
      : prediction(id), search(core_seconds_max), recorder(record) {}

  JobId id() const { return prediction.id(); }
  bool known() const { return prediction.locked(); }
  // Opens that no process could be named for, where no READ of unknown processes was seen either.
  bool unattributed() const { return id() == 0 && !named; }

  // The first reads of the pass whose order is not known; none: the order is known, or the job reads nothing.
  std::optional<EpochStart> UnknownPass(const EpochWatch& watch) const;
  // About how many reads UnknownPass would give, without a copy of them.
  uint64_t UnknownReads(const EpochWatch& watch) const;
  // An order has ended or was lost. Where most of the running pass was predicted, its first reads are not searched with
  // any more: what they would find is that order.
  void MarkPass(const EpochWatch& watch);
  // The order of the running pass is known.
  void SetPassKnown(const EpochWatch& watch);
  // A pass, or with it the job (nullptr), has ended.
  void RecordPass(const EpochStart* next) {
    if (!known()) recorder.RecordSeen(next);
  }

  JobPredictor prediction;
  JobSearch search;
  RunRecorder recorder;
  bool named = false;         // a READ named it
  uint32_t script = 0;        // the process whose workers read, by the last READ; 0: not known
  int64_t known_since = 0;    // seconds since 1970, of the order that is known now
  uint32_t passes_known = 0;  // passes until the end of the last one whose order was known
};

}  // namespace augur
