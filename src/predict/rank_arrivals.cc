// SPDX-License-Identifier: Apache-2.0
#include "predict/rank_arrivals.h"

#include <algorithm>
#include <set>
#include <utility>

namespace augur {
namespace {

// Strangers' reads lose bits without end; a rank that comes after them is to be seen within as many reads as at first.
// Two strangers' reads cost 10 bits; one read of a rank in 12,000 files makes up for 8.
constexpr double kArrivalBitsMin = -8;
// The first read of a stream changes the bits by 0, but for rounding. One that does not go on costs 2.5 bits or more.
constexpr double kNothingBits = 0.1;
// One read may be a stranger's.
constexpr uint64_t kReadsMin = 2;

}  // namespace

RankArrivals::RankArrivals(const IdentifiedOrder& followed) : list_(followed.list), guess_(followed.guess) {}

const EpochOrder& RankArrivals::Whole() {
  if (!whole_) {
    Guess whole = guess_;
    whole.share = {};
    whole_ = std::make_unique<const EpochOrder>(Order(MakeIdentifiedOrder(list_, whole).order->files()));
    Restart();
  }
  return *whole_;
}

void RankArrivals::Restart() {
  evidence_ = std::make_unique<Evidence>(whole_->size(), false);
  reads_of_.clear();
  others_.clear();
}

void RankArrivals::OnExpectedRead(StreamId stream) {
  if (stream != 0 && (expected_.contains(stream) || expected_.size() < Evidence::kStreamsMax)) ++expected_[stream];
}

RankArrivals::Verdict RankArrivals::OnUnexpectedRead(EntryNumber file, StreamId stream) {
  const EpochOrder& whole = Whole();
  const double before = evidence_->bits();
  const std::optional<uint32_t> place = evidence_->AddRead(whole.PlacesOf(file), static_cast<uint32_t>(stream));
  // The first read of a stream says nothing.
  Verdict verdict;
  verdict.agrees = place.has_value() && evidence_->bits() > before - kNothingBits;
  if (evidence_->bits() < kArrivalBitsMin) Restart();
  if (!place) return verdict;
  ++reads_of_[guess_.share.RankOf(*place)];
  if (stream != 0) ++others_[stream];
  if (evidence_->bits() < kBelievedBits) return verdict;
  RankSubset widened = Widened();
  if (widened.ranks.size() != guess_.share.ranks.size()) verdict.share = std::move(widened);
  return verdict;
}

RankSubset RankArrivals::Widened() const {
  for (const auto& [stream, reads] : others_) {
    const auto expected = expected_.find(stream);
    if (reads >= kReadsMin && expected != expected_.end() && expected->second >= kReadsMin) {
      RankSubset all = guess_.share;
      all.ranks.resize(all.world_size);
      for (uint64_t rank = 0; rank < all.world_size; ++rank) all.ranks[rank] = rank;
      return all;
    }
  }
  std::set<uint64_t> ranks(guess_.share.ranks.begin(), guess_.share.ranks.end());
  for (const auto& [rank, reads] : reads_of_) {
    if (reads >= kReadsMin) ranks.insert(rank);
  }
  RankSubset widened = guess_.share;
  widened.ranks.assign(ranks.begin(), ranks.end());
  return widened;
}

}  // namespace augur
