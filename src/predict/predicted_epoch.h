// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "predict/epoch_follower.h"
#include "predict/identified_order.h"
#include "samplers/rank_subset.h"

namespace augur {

// PredictedEpoch is an epoch of one job whose order is known: the order, how far it has been read, and the view of the
// mount in which it is read. Not synchronized.
struct PredictedEpoch {
  // `reach`: as of EpochFollower.
  PredictedEpoch(IdentifiedOrder order, uint32_t reach, uint32_t in_view);

  // Forgets which of its files were read.
  void FollowAnew();
  // A read that was expected was made in this view. Whether the epoch is read in that one, and not in the one that was
  // thought: by some reads one after the other.
  bool TurnsTo(uint32_t other);
  // The piece that was read of an order which its readers have left; none: too little of it.
  std::optional<RankSubset> LeftPiece() const;

  IdentifiedOrder identified;
  std::unique_ptr<EpochFollower> follower;
  uint32_t view = 0;
  uint32_t hits_elsewhere = 0;  // one after the other in another view
};

}  // namespace augur
