// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "predict/candidate_scorer.h"
#include "predict/evidence.h"
#include "predict/identified_order.h"
#include "readers/epochs.h"

namespace augur {

// RankArrivals watches the reads of an epoch of which a share is followed (HostShare), for ranks of this host that the
// share lacks. Ranks begin up to seconds apart, and a share is known after a few reads, so that the first rank's is
// often followed alone. A read that the share does not expect is looked up in the order of all ranks. Evidence sums up
// how well such reads follow that order; a stranger's do not. At 20 bits the share gets the ranks that they are of.
//
// Where one process reads both files of the share and files that it lacks, the share is wrong: a process reads for one
// rank. Then the share becomes all ranks.
//
// Not synchronized. Memory: 12 bytes a sample from the first unexpected read on, the places of the whole order.
class RankArrivals {
 public:
  static constexpr double kBelievedBits = CandidateScorer::kBelievedBits;

  // REQUIRES: a sampler's order, of which not all ranks are this host's.
  explicit RankArrivals(const IdentifiedOrder& followed);

  // The stream read what the share expects.
  void OnExpectedRead(StreamId stream);
  // It read a file that the share does not have.
  struct Verdict {
    bool agrees = false;              // it may be a read of another rank: it says nothing against the order
    std::optional<RankSubset> share;  // to follow from now on; none: as before
  };
  Verdict OnUnexpectedRead(EntryNumber file, StreamId stream);

 private:
  const EpochOrder& Whole();
  RankSubset Widened() const;
  void Restart();

  // Constant after construction.
  const std::shared_ptr<const SampleList> list_;
  const Guess guess_;

  std::unique_ptr<const EpochOrder> whole_;  // made at the first such read
  std::unique_ptr<Evidence> evidence_;
  std::unordered_map<uint64_t, uint64_t> reads_of_;  // by rank, those not expected
  std::unordered_map<StreamId, uint64_t> expected_;  // how often, by stream
  std::unordered_map<StreamId, uint64_t> others_;    // likewise
};

}  // namespace augur
