// SPDX-License-Identifier: Apache-2.0
#include "predict/forecast_publisher.h"

#include <algorithm>
#include <limits>

#include "predict/job_orders.h"

namespace augur {
namespace {

// A speed is measured over so much time at least. At 800 files a second it is 200 files, which is right to 7 %.
constexpr uint64_t kMeasureUs = 250'000;

}  // namespace

void ForecastPublisher::Tell(const std::vector<const JobPredictor*>& jobs, bool anew, uint64_t now_us) {
  held_back_ = orders_.FollowsGiven();
  if (held_back_) return;
  if (jobs.size() != 1) parts_.clear();
  if (jobs.size() < 2) speeds_.clear();
  if (jobs.empty()) return orders_.ForgetPredicted();
  if (jobs.size() == 1) return TellOne(*jobs[0], anew);
  TellMerged(jobs, now_us);
}

// In which most of the jobs read, the first one's of several.
uint32_t ForecastPublisher::ViewOf(const std::vector<const JobPredictor*>& jobs) {
  const auto readers = [&](const JobPredictor* one) {
    return std::ranges::count(jobs, one->view(), [](const JobPredictor* job) { return job->view(); });
  };
  return (*std::ranges::max_element(jobs, {}, readers))->view();
}

void ForecastPublisher::TellOne(const JobPredictor& job, bool anew) {
  const uint64_t files_max = orders_.PredictedFilesMax();
  const std::vector<JobPredictor::Part> coming = job.Coming();
  const auto told = [&](size_t i) { return std::ranges::find(parts_, coming[i].order) != parts_.end(); };
  uint64_t files = 0;
  // After a merged order nothing of it can be gone on with.
  const bool first_told = told(0);
  for (size_t i = 0; i < coming.size(); ++i) {
    if (!anew && told(i)) {
      files += coming[i].order->size();
      continue;
    }
    const SharedOrder whole = i == 0 ? std::make_shared<const EpochOrder>(job.Rest()) : coming[i].order;
    const SharedOrder order = PartOf(whole, 0, files_max - std::min(files_max, files));
    files += order->size();
    if (order->size() == 0) break;
    orders_.Predict(order, coming[i].view, i == 0 && (anew || !first_told));
  }
  parts_.clear();
  for (const JobPredictor::Part& part : coming) parts_.push_back(part.order);
}

void ForecastPublisher::TellMerged(const std::vector<const JobPredictor*>& jobs, uint64_t now_us) {
  std::unordered_map<JobId, JobSpeed> speeds;
  double known = 0;
  size_t known_speeds = 0;
  for (const JobPredictor* job : jobs) {
    JobSpeed now{.hits = job->hits()};
    if (const auto before = speeds_.find(job->id()); before != speeds_.end()) {
      const uint64_t passed_us = now_us - std::min(now_us, speeds_us_);
      const uint64_t hits = now.hits - std::min(now.hits, before->second.hits);
      now.files_per_second = passed_us < kMeasureUs
                                 ? before->second.files_per_second
                                 : std::max(0.1, static_cast<double>(hits) * 1e6 / static_cast<double>(passed_us));
    }
    if (now.files_per_second > 0) ++known_speeds;
    known += now.files_per_second;
    speeds[job->id()] = now;
  }
  // Who reads another view cannot be read ahead for at the same time.
  const uint32_t view = ViewOf(jobs);
  std::vector<JobOrder> merged;
  for (const JobPredictor* job : jobs) {
    if (job->view() != view) continue;
    double& speed = speeds[job->id()].files_per_second;
    if (speed == 0) speed = known_speeds > 0 ? known / static_cast<double>(known_speeds) : 1;
    JobOrder job_order{.files = job->Rest(), .files_per_second = speed};
    const std::vector<JobPredictor::Part> coming = job->Coming();
    for (size_t i = 1; i < coming.size() && coming[i].view == view && job_order.files.size() < kMergedMax; ++i) {
      job_order.files.insert(job_order.files.end(), coming[i].order->files().begin(), coming[i].order->files().end());
    }
    merged.push_back(std::move(job_order));
  }
  Order order = InterleaveJobs(merged, std::min(kMergedMax, orders_.PredictedFilesMax()));
  merged_ = order.size();
  speeds_ = std::move(speeds);
  speeds_us_ = now_us;
  orders_.Predict(std::make_shared<const EpochOrder>(std::move(order)), view, true);
}

bool ForecastPublisher::IsStale(const std::vector<const JobPredictor*>& jobs) const {
  if (held_back_) return !orders_.FollowsGiven();
  if (!several()) return false;
  // By how many of the fastest's files the others are behind, or ahead.
  double least = std::numeric_limits<double>::max();
  double most = 0;
  double fastest = 0;
  uint64_t read = 0;
  for (const JobPredictor* job : jobs) {
    const auto told = speeds_.find(job->id());
    if (told == speeds_.end()) return true;
    const uint64_t hits = job->hits() - std::min(job->hits(), told->second.hits);
    const double seconds = static_cast<double>(hits) / told->second.files_per_second;
    least = std::min(least, seconds);
    most = std::max(most, seconds);
    fastest = std::max(fastest, told->second.files_per_second);
    read += hits;
  }
  return (most - least) * fastest > kDriftMax || read > merged_ / 2;
}

}  // namespace augur
