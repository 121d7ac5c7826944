// SPDX-License-Identifier: Apache-2.0
#include "predict/data_heat.h"

#include <algorithm>

namespace augur {

DataHeat::Turn DataHeat::Look(uint64_t now_us, const Counters& counters) {
  return hot_ ? LookWhileHot(now_us, counters) : LookWhileCold(now_us, counters);
}

void DataHeat::BeginAnew(uint64_t now_us, const Counters& counters) {
  hot_ = false;
  CountFrom(now_us, counters);
}

void DataHeat::CountFrom(uint64_t now_us, const Counters& counters) {
  since_us_ = now_us;
  since_ = counters;
}

DataHeat::Turn DataHeat::LookWhileCold(uint64_t now_us, const Counters& counters) {
  const uint64_t opened = counters.opened - since_.opened;
  const double fetched = counters.fetched - since_.fetched;
  const double fetched_max = kFetchedPart * static_cast<double>(opened);
  // Time without a reader is not counted. The one file more is the one that a short time may have by chance.
  if (opened == 0 || fetched > 1 + fetched_max) {
    CountFrom(now_us, counters);
    return Turn::kNone;
  }
  const bool enough = opened >= kFilesToBeHot && now_us - since_us_ >= kHotAfterUs << doublings_;
  if (!enough || fetched > fetched_max) return Turn::kNone;
  hot_ = true;
  hot_since_us_ = now_us;
  fetched_ = 0;
  CountFrom(now_us, counters);
  return Turn::kHot;
}

DataHeat::Turn DataHeat::LookWhileHot(uint64_t now_us, const Counters& counters) {
  const double forgotten = kFetchedASecond * static_cast<double>(now_us - since_us_) / 1e6;
  fetched_ = std::max(0.0, fetched_ - forgotten) + counters.fetched - since_.fetched;
  CountFrom(now_us, counters);
  if (fetched_ < kFetchedToBeCold) return Turn::kNone;
  hot_ = false;
  doublings_ = now_us - hot_since_us_ >= kLongHotUs ? 0 : std::min(doublings_ + 1, kDoublingsMax);
  return Turn::kCold;
}

}  // namespace augur
