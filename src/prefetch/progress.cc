// SPDX-License-Identifier: Apache-2.0
#include "prefetch/progress.h"

#include <algorithm>

namespace augur {

void Progress::Restart(Position begin) {
  tail_ = front_ = begin;
  seen_.clear();
  in_front_.clear();
  stray_count_ = 0;
}

bool Progress::WasRead(Position position) const {
  if (position < tail_) return true;
  const Position index = position - tail_;
  return index < seen_.size() && seen_[index];
}

Progress::Seen Progress::See(Slot slot) {
  // The first of its uses that has not been seen: a file may come twice within the spread. But an open and the READ
  // that follows it are one read.
  Position position = track_.NextUse(slot, tail_);
  while (position != kNever && WasRead(position)) {
    const Position next = track_.NextUse(slot, position + 1);
    if (position + options_.lag >= front_ || next >= front_ + options_.spread_max) {
      return {.kind = Kind::kOld, .position = position};
    }
    position = next;
  }
  if (position == kNever || position >= front_ + options_.spread_max) return Stray(slot);
  const Position index = position - tail_;
  if (index >= seen_.size()) seen_.resize(index + 1, false);
  seen_[index] = true;
  if (position >= front_) {
    in_front_.push_back(position);
    // Of the last reads of all there are too few to support each other.
    if (in_front_.size() >= options_.support || position + options_.support >= track_.end()) {
      const auto least = std::min_element(in_front_.begin(), in_front_.end());
      front_ = *least + 1;
      in_front_.erase(least);
    }
  }
  Advance();
  return {.kind = Kind::kNew, .position = position};
}

// Moves the tail past what is read.
void Progress::Advance() {
  while (tail_ < front_) {
    const uint64_t behind = front_ - tail_;
    const bool seen = !seen_.empty() && seen_.front();
    if (seen ? behind <= options_.lag : behind <= options_.unseen_max) break;
    if (!seen_.empty()) seen_.pop_front();
    ++tail_;
  }
}

Progress::Seen Progress::Stray(Slot slot) {
  // The file's place in the epoch where the reader is, before or after it; or in the epoch to come.
  if (track_.begin() == track_.end()) return {};
  const Position here = std::clamp(front_, track_.begin(), track_.end() - 1);
  Position position = track_.NextUse(slot, track_.EpochAround(here).first);
  if (position == kNever) return {};
  if (position < tail_ && position + options_.unseen_max >= tail_) return {.kind = Kind::kOld, .position = position};
  strays_[stray_count_++ % kStrays] = position;
  const size_t known = std::min(stray_count_, kStrays);
  // A reader in an epoch elsewhere reads positions that are near each other; a stranger's are anywhere. By chance,
  // 8 of 16 anywhere in an epoch of 16 spreads or more lie in one spread less often than once in 10^4 reads, and the
  // reader at the front brings the front back.
  std::vector<Position> near;
  for (size_t i = 0; i < known; ++i) {
    const Position other = strays_[i];
    if (other + options_.spread_max / 2 > position && position + options_.spread_max / 2 > other) near.push_back(other);
  }
  if (near.size() < kStraysToJump) return {.kind = Kind::kForeign, .position = position};
  const auto [least, most] = std::minmax_element(near.begin(), near.end());
  tail_ = *least;
  front_ = *most + 1;
  seen_.assign(front_ - tail_, false);
  for (const Position one : near) seen_[one - tail_] = true;
  in_front_.clear();
  stray_count_ = 0;
  Advance();
  return {.kind = Kind::kJump, .position = position};
}

}  // namespace augur
