// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "predict/job_predictor.h"
#include "prefetch/predicted_orders.h"

namespace augur {

// ForecastPublisher tells the prefetch the coming reads, and remembers them. Of one job it tells the epochs one after
// the other. Of several jobs it tells the coming reads side by side, in one merged order. They are merged anew when the
// jobs come apart from the speeds assumed for the merge. Of jobs that read different views of the mount those in the
// view of most are merged. An order that the user gave goes first. Not synchronized, no clock. REQUIRES: `orders`
// outlives it.
class ForecastPublisher {
 public:
  // More than that is no handful of jobs; a merged order would be of no use. 16 jobs of kDriftMax are the 1,024 reads
  // that readers may be apart from each other (ReaderPositionOptions::spread_max).
  static constexpr size_t kMergedJobsMax = 16;
  // The most files of a merged order that are told at a time. Jobs keep their speeds no longer: 20 s at 800 files a
  // second.
  static constexpr uint64_t kMergedMax = 16'384;
  // Two batches. The prefetch takes readers that are 1,024 reads apart for one; four jobs of this are 256.
  static constexpr double kDriftMax = 64;

  explicit ForecastPublisher(PredictedOrders& orders) : orders_(orders) {}

  // `jobs`: those whose orders are known. `anew`: orders told before hold no longer; else those that follow are added.
  void Tell(const std::vector<const JobPredictor*>& jobs, bool anew, uint64_t now_us);
  // Whether it is time to tell again: the jobs have come apart or are nearly through, or an order that was given has
  // ended.
  bool IsStale(const std::vector<const JobPredictor*>& jobs) const;
  // The epoch has ended, the prefetch comes to the end of it by itself.
  void Forget() { parts_.clear(); }
  bool several() const { return speeds_.size() > 1; }

 private:
  // How far and how fast a job was when the merged order was told.
  struct JobSpeed {
    uint64_t hits = 0;
    double files_per_second = 0;  // 0: not known yet
  };

  static uint32_t ViewOf(const std::vector<const JobPredictor*>& jobs);
  void TellOne(const JobPredictor& job, bool anew);
  void TellMerged(const std::vector<const JobPredictor*>& jobs, uint64_t now_us);

  PredictedOrders& orders_;
  std::vector<SharedOrder> parts_;              // that the prefetch has, of one job
  std::unordered_map<JobId, JobSpeed> speeds_;  // of several
  uint64_t speeds_us_ = 0;
  uint64_t merged_ = 0;  // files
  bool held_back_ = false;
};

}  // namespace augur
