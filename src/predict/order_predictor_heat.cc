// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/limited_log.h"
#include "predict/order_predictor.h"

// Orders are not looked for while no reader waits for a disk.

namespace augur {
namespace {

// READs that come while the OrderPredictor sleeps are kept: of the first job that reads from the disk, they are its
// beginning. Data turns cold by 16 fetched files beside two a second (DataHeat), which takes 8 s at most.
constexpr size_t kLatelyMax = 4096;
constexpr uint64_t kLatelyUs = 8'000'000;

}  // namespace

// Of small files one read of the disk has many, so bytes count as files of the mean size. Of a few bytes of a large
// file a read counts as one.
double OrderPredictor::FetchedFiles() const {
  if (options_.fetched_files) return options_.fetched_files();
  const StoreSummary& summary = store_->summary();
  const double files = std::max<double>(1, static_cast<double>(summary.file_count));
  const double file_bytes = 1 + static_cast<double>(summary.tree_bytes) / files;
  const uint64_t whole =
      statistics_.Get(Stat::kDiskReads) + statistics_.Get(Stat::kImagesDecoded) + statistics_.Get(Stat::kDecodedHits);
  return static_cast<double>(whole) + static_cast<double>(statistics_.Get(Stat::kDiskBytes)) / file_bytes;
}

// A hint of the user is tried on hot data, too.
bool OrderPredictor::IsHot() const { return heat_.hot() && hints_.empty(); }

void OrderPredictor::LookAtHeat(uint64_t now_us) {
  const DataHeat::Turn turn = heat_.Look(now_us, {.opened = sighted_, .fetched = FetchedFiles()});
  if (asleep_ && !IsHot()) {
    Awake(now_us);
  } else if (turn == DataHeat::Turn::kCold) {
    for (auto& [id, job] : jobs_) job->AskAnew();
  }
  if (asleep_ || !IsHot()) return;
  for (auto& [id, job] : jobs_) job->DropInquiry();
  // A known order is followed on, by the opens of its files.
  if (Locked().empty()) FallAsleep();
}

// Ends all jobs: their opens are not seen from now on.
void OrderPredictor::FallAsleep() {
  for (auto& [id, job] : jobs_) {
    RecordSeen(*job, nullptr);
    if (std::string known = job->prediction.Describe(); !known.empty()) ended_ = std::move(known);
    hints_.Ended(id);
  }
  jobs_.clear();
  watch_.ForgetAll();
  Tell(true);
  SetAsleep(true);
  LogLimited(spdlog::level::info, "hot data", "asleep", std::string("orders are not looked for: ") + kHotText);
}

void OrderPredictor::Awake(uint64_t now_us) {
  SetAsleep(false);
  LogLimited(spdlog::level::info, "hot data", "awake", "orders are looked for again: files are fetched from the disk");
  for (const Access& access : std::exchange(lately_, {})) {
    if (access.time_us + kLatelyUs >= now_us) Take(access);
  }
}

void OrderPredictor::SetAsleep(bool asleep) {
  asleep_ = asleep;
  orders_.NeedOpens(!asleep);
}

void OrderPredictor::TakeWhileAsleep(const Access& access) {
  lately_.push_back(access);
  if (lately_.size() > kLatelyMax) lately_.pop_front();
}

}  // namespace augur
