// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predict/identified_order.h"
#include "predict/order_search.h"
#include "readers/epochs.h"
#include "seed_search/search_allowance.h"

namespace augur {

// JobSearch is the search for the order of one job. It has the tries for the running pass, when the next try is due,
// and the search in the background (OrderSearch) if one runs. A try compares the first reads with candidates. It is due
// after kReadsFirst reads, and each time the reads have doubled.
//
// Not synchronized.
class JobSearch {
 public:
  // In 12,000 files the reads of one process are worth 12 bits each. Believed are 20 beside log2 of 900 candidates, 30:
  // two reads never reach that, and three do.
  static constexpr uint64_t kReadsFirst = 3;

  // `core_seconds_max`: what its searches in the background may take without success.
  explicit JobSearch(double core_seconds_max) : allowance_(std::make_shared<SearchAllowance>(core_seconds_max)) {}

  // All may be tried anew: with a new pass, a hint, or a lost order.
  void Restart();
  // The same when a pass has begun whose order is not known. Cancels.
  void BeginPass();
  // The order was found, or is of no interest now. The search in the background ends, without a result.
  void Cancel();
  // The order is known. Cancels.
  void Succeed();
  // All that is possible with this number of reads was tried, or the last search has failed.
  void Fail(uint64_t reads);

  // The job has read a file.
  void CountRead() { ++reads_; }
  uint64_t reads() const { return reads_; }
  bool IsDue(uint64_t reads) const { return reads >= due_; }
  // A try with this number of reads is made.
  void SetTried(uint64_t reads) { due_ = 2 * reads; }
  // Whether more reads can be compared than in the last try: with the same, the try would be the same.
  bool HasMore(uint64_t compared);
  // Whether candidates that cost a tenth of a second are tried: the seeds of a script are set once, so they are tried
  // in the first passes only. Once there were reads enough to tell it (`decidable`), once more, in case that the first
  // of them were not the job's.
  bool TriesVariants(const EpochStart& epoch, uint64_t compared, bool decidable);
  // The files by which a recorded run was looked for in vain.
  std::vector<EntryNumber>* runs_tried() { return &runs_tried_; }
  // Processor time of the tries.
  void AddCost(double seconds) { cost_seconds_ += seconds; }
  double cost_seconds() const { return cost_seconds_; }

  // Begins a search in the background. REQUIRES: none runs.
  void Begin(uint64_t number, std::shared_ptr<OrderSearch> search);
  bool running() const { return search_ != nullptr; }
  // The search of this number has ended so. False: it is not the one that runs, so its result is of no interest.
  bool End(uint64_t number, const std::optional<IdentifiedOrder>& found);
  // The last search of all seeds found nothing.
  bool failed() const { return failed_; }
  const std::shared_ptr<SearchAllowance>& allowance() const { return allowance_; }

  // For people: the search that runs, or why the order is not known; empty: nothing to tell.
  std::string Describe() const;

 private:
  const std::shared_ptr<SearchAllowance> allowance_;
  uint64_t due_ = kReadsFirst;
  uint64_t compared_ = 0;           // reads, in the last try
  uint64_t variants_compared_ = 0;  // ... in the last one of variants with reads enough
  std::vector<EntryNumber> runs_tried_;
  double cost_seconds_ = 0;
  std::shared_ptr<OrderSearch> search_;  // in the background; may be empty
  uint64_t number_ = 0;                  // of the last one
  uint64_t begun_at_ = 0;                // reads of the job, when it began
  uint64_t reads_ = 0;                   // of the job
  bool failed_ = false;
  std::string why_;  // the order is not known
};

}  // namespace augur
