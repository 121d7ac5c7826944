// SPDX-License-Identifier: Apache-2.0
#include "predict/predicted_epoch.h"

#include <utility>

namespace augur {
namespace {

// One after the other: somebody may have a look at a file in another view.
constexpr uint32_t kHitsToTurn = 4;
// An order that is left after so many reads, before so many of its end, with so much of it read, was read in a piece. A
// wrong order is lost within 100 reads (OrderFit); a piece of 256 is that of a rank among 46 in 12,000 files. Two
// batches of 32 at the end may be what drop_last leaves, or what was not seen. A rank of two whose share was not found
// reads 0.5 of the places that it passes, the reader of a piece 0.97 (Evidence::kWrong).
constexpr uint32_t kPieceMin = 256;
constexpr uint32_t kPieceEnd = 64;
constexpr double kPieceRead = 0.9;

std::unique_ptr<EpochFollower> FollowerOf(const IdentifiedOrder& identified, uint32_t reach) {
  const bool part = identified.list && !identified.guess.share.IsAll();
  return std::make_unique<EpochFollower>(identified.order, identified.begin, reach, part ? identified.list->size() : 0);
}

}  // namespace

PredictedEpoch::PredictedEpoch(IdentifiedOrder order, uint32_t reach, uint32_t in_view)
    : identified(std::move(order)), follower(FollowerOf(identified, reach)), view(in_view) {}

void PredictedEpoch::FollowAnew() { follower = FollowerOf(identified, follower->reach()); }

bool PredictedEpoch::TurnsTo(uint32_t other) {
  hits_elsewhere = other == view ? 0 : hits_elsewhere + 1;
  if (hits_elsewhere < kHitsToTurn) return false;
  hits_elsewhere = 0;
  view = other;
  return true;
}

std::optional<RankSubset> PredictedEpoch::LeftPiece() const {
  const uint32_t end = follower->ReadUpTo();
  if (!identified.list || identified.guess.share.world_size > 1 || identified.guess.share_given) return std::nullopt;
  if (end < identified.begin + kPieceMin || end + kPieceEnd > identified.order->size()) return std::nullopt;
  if (static_cast<double>(follower->hits()) < kPieceRead * (end - identified.begin)) return std::nullopt;
  return RankSubset::Piece(identified.begin, end);
}

}  // namespace augur
