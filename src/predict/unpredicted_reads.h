// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "readers/epochs.h"

namespace augur {

struct UnpredictedRead {
  EntryNumber file = 0;
  StreamId stream = 0;
};

// UnpredictedReads is what a job has read and nothing predicted, in order. That is since its pass began, or since about
// when its reads no longer agreed with the order that is followed. Not synchronized. Memory: 8 bytes a read, kMax of
// them at most; further ones are not kept.
class UnpredictedReads {
 public:
  // 8 MB. EpochWatch keeps as many first reads of all jobs (EpochOptions::all_first_reads_max).
  static constexpr size_t kMax = size_t{1} << 20;

  // A pass has begun, with these reads.
  void Begin(const EpochStart& epoch);
  // A read while no order is followed.
  void Add(EntryNumber file, StreamId stream);
  // A read while one is: whether it agrees with that. After one that does not, those that do are kept, too, until
  // Page's sum says that the order is still followed. Where it is lost, they agreed by chance.
  void Note(EntryNumber file, StreamId stream, bool agrees);
  // Lets go those for which `is_predicted` says so after all. It is asked for each, in order.
  template <class Predicate>
  void Remove(Predicate is_predicted) {
    std::erase_if(all_, std::move(is_predicted));
  }
  void Clear() { all_.clear(); }
  // An order is followed from now on that agrees with all of them.
  void BeginFollowing();

  const std::vector<UnpredictedRead>& all() const { return all_; }
  // The same as an epoch of the job, of which only the streams and their first reads are known.
  EpochStart AsEpoch(JobId job) const;

 private:
  std::vector<UnpredictedRead> all_;
  int doubt_ = 0;  // whether the last of them still follow the order: Page's sum
};

}  // namespace augur
