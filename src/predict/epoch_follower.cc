// SPDX-License-Identifier: Apache-2.0
#include "predict/epoch_follower.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "predict/evidence.h"

namespace augur {
namespace {

// How slowly it is forgotten how far apart the readers were: by half in 700 reads. In 512 each of 16 workers reads a
// batch of 32, so a slow one is seen again before that.
constexpr uint32_t kReachDecay = 1024;
// What drop_last leaves: a batch of each rank, 8 x 512.
constexpr uint64_t kDroppedMax = 4096;
// What fills up the last ones: as much, but little of the epoch, since whoever reads the same epoch again begins so
// too, and is found so many reads later (1.6 %). Of 12,000 files it is 187, the last batches of five ranks of 32 each.
constexpr uint64_t kFilledUpMax = 4096;
constexpr uint64_t kFilledUpPart = 64;
constexpr uint8_t kSightsOfARead = 2;  // the open and the READ

}  // namespace

EpochFollower::EpochFollower(SharedOrder order, uint32_t begin, uint32_t reach, uint64_t files)
    : order_(std::move(order)),
      begin_(begin),
      files_(std::max<uint64_t>(files, order_->size())),
      reach_max_(static_cast<uint32_t>(
          std::clamp<uint64_t>(std::max<uint64_t>(order_->size() / 4, files_ / 8), kReachOfAny, kReachMax))),
      read_(order_->size(), false),
      filled_up_(std::min<uint64_t>(order_->size() / kFilledUpPart, kFilledUpMax), 0),
      front_(begin),
      tail_(begin - std::min(begin, reach / 2)),
      reach_(std::clamp(reach, std::min(kReachMin, reach_max_), reach_max_)),
      apart_(reach_) {}

bool EpochFollower::NearEnd() const {
  const uint64_t size = order_->size();
  return hits_ > 0 && front_ + std::max<uint64_t>(reach_, std::min(kDroppedMax, size / 16)) >= size;
}

std::optional<uint32_t> EpochFollower::Expects(EntryNumber file) const {
  for (const uint64_t item : order_->PlacesOf(file)) {
    const uint32_t place = EpochOrder::PlaceOf(item);
    if (read_[place] || place < tail_) continue;
    if (place >= front_ + uint64_t{reach_}) break;
    return place;
  }
  return std::nullopt;
}

bool EpochFollower::ExpectsSoon(EntryNumber file) const {
  const std::optional<uint32_t> place = Expects(file);
  return place && *place < front_ + filled_up_.size();
}

EpochFollower::Kind EpochFollower::OnRead(EntryNumber file, bool open) {
  if (const std::optional<uint32_t> place = Expects(file)) {
    bits_ = std::min(bits_ + std::log2((1 - Evidence::kWrong) / ChanceOfHit() + Evidence::kWrong), kBitsMax);
    ++hits_;
    MakeUp();
    read_[*place] = true;
    ++read_ahead_;
    if (*place + uint64_t{kEndPlaces} >= order_->size()) ++hits_at_end_;
    Advance(*place);
    return Kind::kHit;
  }
  if (ReadLately(file) || (!open && ReadBefore(file))) return Kind::kAgain;
  Miss();
  return Kind::kMiss;
}

bool EpochFollower::ReadLately(EntryNumber file) const {
  return std::ranges::any_of(order_->PlacesOf(file), [&](uint64_t item) {
    const uint32_t place = EpochOrder::PlaceOf(item);
    return read_[place] && place + uint64_t{reach_} >= front_;
  });
}

bool EpochFollower::ReadBefore(EntryNumber file) {
  const auto places = order_->PlacesOf(file);
  if (std::ranges::none_of(places, [&](uint64_t item) { return read_[EpochOrder::PlaceOf(item)]; })) return false;
  if (agains_ >= std::min<size_t>(kAgainsMax, 16 + read_.size() / 32)) return false;
  ++agains_;
  return true;
}

bool EpochFollower::FillsUp(EntryNumber file) {
  if (!NearEnd()) return false;
  for (const uint64_t item : order_->PlacesOf(file)) {
    const uint32_t place = EpochOrder::PlaceOf(item);
    if (place >= filled_up_.size()) return false;
    if (filled_up_[place] == kSightsOfARead) continue;
    ++filled_up_[place];
    return true;
  }
  return false;
}

void EpochFollower::MakeUp() {
  if (agains_ == 0) return;
  --agains_;
  ++made_up_;
}

void EpochFollower::Miss() {
  ++misses_;
  bits_ += std::log2(Evidence::kWrong / std::max(Evidence::kWrong, 1 - ChanceOfHit()));
}

double EpochFollower::ChanceOfHit() const {
  const auto size = static_cast<double>(order_->size());
  const double window = std::min(size, static_cast<double>(front_) + reach_) - tail_ - static_cast<double>(read_ahead_);
  const auto files = static_cast<double>(files_);
  const double unread = std::max(1.0, files - static_cast<double>(hits_));
  // By a reader who takes any file that is left, and by one who takes any at all, who begins anew: each half. Where all
  // that is left is near, the first would hit always, and say nothing.
  return std::clamp(window, 1.0, unread) * (0.5 / unread + 0.5 / files);
}

// Not back.
void EpochFollower::MoveTail(uint32_t place) {
  for (; tail_ < place; ++tail_) {
    if (read_[tail_]) --read_ahead_;
  }
  for (; tail_ < read_.size() && read_[tail_]; ++tail_) --read_ahead_;
}

// One read in eight of the last ones may be a stranger's: the front is where the foremost of the others are, and goes
// back when a stranger's read has taken it too far. The tail follows twice as far behind as they are apart.
void EpochFollower::Advance(uint32_t place) {
  lately_.push_back(place);
  if (lately_.size() > kLately) lately_.pop_front();
  std::array<uint32_t, kLately> places;
  const auto end = std::ranges::copy(lately_, places.begin()).out;
  std::sort(places.begin(), end);
  const size_t aside = lately_.size() / 8;
  front_ = places[lately_.size() - 1 - aside];
  if (lately_.size() < kLately) return;
  apart_ = std::max(front_ - places[aside / 2], kLately);
  // A worker may pause while the others read all their batches, and is then seen that far behind.
  const uint32_t apart = std::max(front_ - places[aside / 2], front_ - std::min(front_, place));
  reach_ = std::clamp(std::max(4 * apart, reach_ - (reach_ + kReachDecay - 1) / kReachDecay),
                      std::min(kReachMin, reach_max_), reach_max_);
  MoveTail(front_ - std::min(front_, 2 * reach_));
}

uint32_t EpochFollower::ReadUpTo() const {
  uint32_t place = front_;
  while (place < read_.size() && read_[place]) ++place;
  return place;
}

Order EpochFollower::Done() const {
  Order done;
  for (size_t place = 0; place < read_.size(); ++place) {
    if (read_[place]) done.push_back(order_->files()[place]);
  }
  return done;
}

Order EpochFollower::Rest() const {
  Order rest;
  const Order& files = order_->files();
  const size_t first = std::max(begin_, tail_);
  rest.reserve(files.size() - std::min(files.size(), first));
  for (size_t place = first; place < files.size(); ++place) {
    if (!read_[place]) rest.push_back(files[place]);
  }
  return rest;
}

}  // namespace augur
