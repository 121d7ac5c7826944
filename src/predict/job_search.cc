// SPDX-License-Identifier: Apache-2.0
#include "predict/job_search.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "predict/candidate_scorer.h"

namespace augur {
namespace {

// VariantsAreTriedTwiceWithReadsEnough has both.
constexpr uint32_t kPassesOfVariants = 2;
constexpr uint64_t kReadsToTryVariantsAgain = 8;  // times as many
// A search that an epoch's end broke off sooner has not failed.
constexpr uint64_t kReadsToFail = 128;

}  // namespace

void JobSearch::Restart() {
  due_ = kReadsFirst;
  compared_ = 0;
  variants_compared_ = 0;
  runs_tried_.clear();
}

// A search that takes longer than an epoch never comes to its end.
void JobSearch::BeginPass() {
  Restart();
  if (search_ && search_->searched() && reads_ - begun_at_ >= kReadsToFail) failed_ = true;
  Cancel();
}

void JobSearch::Cancel() {
  if (search_) search_->Cancel();
  search_.reset();
}

void JobSearch::Succeed() {
  Cancel();
  failed_ = false;
  why_.clear();
}

void JobSearch::Fail(uint64_t reads) {
  why_ = "not understood after " + std::to_string(reads) + " reads";
  if (!allowance_->spent()) return;
  why_ += fmt::format("; not searched for any more: the searches of this run have taken {:g} core-seconds",
                      allowance_->core_seconds());
}

bool JobSearch::HasMore(uint64_t compared) { return compared != std::exchange(compared_, compared); }

bool JobSearch::TriesVariants(const EpochStart& epoch, uint64_t compared, bool decidable) {
  if (epoch.pass >= kPassesOfVariants) return false;
  const uint64_t compared_max = epoch.streams.size() * CandidateScorer::kReadsAStream;
  if (compared < std::min(kReadsToTryVariantsAgain * variants_compared_, compared_max)) return false;
  if (decidable) variants_compared_ = compared;
  return true;
}

void JobSearch::Begin(uint64_t number, std::shared_ptr<OrderSearch> search) {
  AUGUR_CHECK(!search_);
  number_ = number;
  begun_at_ = reads_;
  search_ = std::move(search);
  search_->Begin();
}

bool JobSearch::End(uint64_t number, const std::optional<IdentifiedOrder>& found) {
  if (number != number_ || !search_) return false;
  if (!found && search_->searched()) failed_ = true;
  if (found && found->seed) allowance_->Renew();
  search_.reset();
  return true;
}

std::string JobSearch::Describe() const { return search_ ? search_->Describe() : why_; }

}  // namespace augur
