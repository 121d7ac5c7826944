// SPDX-License-Identifier: Apache-2.0
#include "order/epoch_follower.h"

#include <algorithm>
#include <utility>

namespace augur {

EpochFollower::EpochFollower(std::shared_ptr<const EpochOrder> order, uint32_t begin)
    : order_(std::move(order)),
      read_(order_->size(), false),
      front_(begin),
      tail_(begin - std::min(begin, reach_ / 2)) {}

std::optional<uint32_t> EpochFollower::Expects(EntryNumber file) const {
  for (const uint64_t item : order_->PlacesOf(file)) {
    const uint32_t place = EpochOrder::PlaceOf(item);
    if (read_[place] || place < tail_) continue;
    if (place >= front_ + uint64_t{reach_}) break;
    return place;
  }
  return std::nullopt;
}

EpochFollower::Kind EpochFollower::Saw(EntryNumber file) {
  if (const std::optional<uint32_t> place = Expects(file)) {
    ++hits_;
    score_ = std::min(score_ + 1, kScoreMax);
    read_[*place] = true;
    Advance(*place);
    return Kind::kHit;
  }
  if (ReadLately(file)) return Kind::kAgain;
  Miss();
  return Kind::kMiss;
}

bool EpochFollower::ReadLately(EntryNumber file) const {
  return std::ranges::any_of(order_->PlacesOf(file), [&](uint64_t item) {
    const uint32_t place = EpochOrder::PlaceOf(item);
    return read_[place] && place + uint64_t{2} * reach_ >= front_;
  });
}

void EpochFollower::Miss() {
  ++misses_;
  score_ -= 3;
}

// One read in 16 of the last ones may be a stranger's: the front is where the foremost of the others are. The tail
// follows twice as far behind as they are apart.
void EpochFollower::Advance(uint32_t place) {
  lately_.push_back(place);
  if (lately_.size() > kLately) lately_.pop_front();
  std::vector<uint32_t> places(lately_.begin(), lately_.end());
  std::ranges::sort(places);
  const size_t aside = places.size() / 16;
  const uint32_t foremost = places[places.size() - 1 - aside];
  front_ = std::max(front_, foremost);
  if (places.size() < kLately) return;
  const uint32_t apart = foremost - places[aside];
  reach_ = std::clamp(std::max(2 * apart, reach_ / 64 * 63), kReachMin, kReachMax);
  tail_ = std::max(tail_, front_ - std::min(front_, 2 * reach_));
  while (tail_ < read_.size() && read_[tail_]) ++tail_;
}

Order EpochFollower::Rest() const {
  Order rest;
  const Order& files = order_->files();
  rest.reserve(files.size() - std::min<size_t>(files.size(), tail_));
  for (size_t place = tail_; place < files.size(); ++place) {
    if (!read_[place]) rest.push_back(files[place]);
  }
  return rest;
}

}  // namespace augur
