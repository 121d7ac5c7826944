// SPDX-License-Identifier: Apache-2.0
#include "predict/evidence.h"

#include <algorithm>
#include <cmath>

#include "datasets/epoch_order.h"

namespace augur {
namespace {

// A reader of one kind loses log2 of its share: 1.7 bits at the beginning, and a read 1.3 for the next place or 1.7 for
// a stride, of 13.5 in 12,000 files. The last three leave 0.15 for the rest of the epoch, where a worker's next batch
// begins: that read loses 2.5 bits (log2(0.97 * 0.15 + 0.03)). Twice kNear would leave nothing, and it would lose 5, as
// a wrong read does.
constexpr double kAtBegin = 0.3;
constexpr double kNext = 0.4;
constexpr double kStride = 0.3;
constexpr double kNear = 0.15;
// Where the page cache serves 15 reads of 16, one gap in 60 is longer than this; half of it one in 8.
constexpr uint32_t kNearPlaces = 64;

constexpr double HarmonicSum(uint32_t terms) {
  double sum = 0;
  for (uint32_t term = 1; term <= terms; ++term) sum += 1.0 / term;
  return sum;
}

constexpr double kNearSum = HarmonicSum(kNearPlaces);

}  // namespace

double Evidence::First(uint32_t place) const {
  if (!from_start_) return 1 / n_;
  // 1/1 + ... + 1/n < 1 + ln n.
  return (place == 0 ? kAtBegin : 0) + (1 - kAtBegin) / ((1.0 + place) * (1 + std::log(n_)));
}

double Evidence::After(const Head& head, uint32_t place) const {
  double share = (1 - kNext - kStride - kNear) / n_;
  if (place <= head.place) return share;
  const uint32_t gap = place - head.place;
  if (gap == 1) share += kNext;
  if (gap == head.step) share += kStride;
  if (gap <= kNearPlaces) share += kNear / (gap * kNearSum);
  return share;
}

double Evidence::Likelihood(uint32_t place, uint32_t stream) const {
  if (stream != 0) {
    const auto head = heads_.find(stream);
    return head == heads_.end() ? First(place) : After(head->second, place);
  }
  // It goes on from one of the last reads, or is the first of another stream.
  double share = First(place);
  for (const Head& head : unattributed_heads_) share += After(head, place);
  return share / (1 + static_cast<double>(unattributed_heads_.size()));
}

std::optional<uint32_t> Evidence::AddRead(std::span<const uint64_t> places, uint32_t stream) {
  ++reads_;
  double likelihood = 0;
  double best = -1;
  uint32_t place = 0;
  for (const uint64_t item : places) {
    const double share = Likelihood(EpochOrder::PlaceOf(item), stream);
    likelihood += share;
    if (share <= best) continue;
    best = share;
    place = EpochOrder::PlaceOf(item);
  }
  // A file that comes twice is twice as likely by chance, too.
  const double chance = std::max<double>(1, static_cast<double>(places.size())) / n_;
  const double gained = std::log2((1 - kWrong) * likelihood / chance + kWrong);
  bits_ += gained;
  if (places.empty()) return std::nullopt;
  if (gained > 0) ++agreed_;
  if (stream != 0) {
    if (heads_.size() >= kStreamsMax && !heads_.contains(stream)) heads_.clear();
    const auto [head, first] = heads_.try_emplace(stream, Head{.place = place, .step = 1});
    if (!first) {
      if (place > head->second.place) head->second.step = place - head->second.place;
      head->second.place = place;
    }
    return place;
  }
  // The head that it went on from is the reader's old place.
  const auto from = std::ranges::max_element(unattributed_heads_, {}, [&](const Head& head) {
    return After(head, place) - 1e-9 * std::abs(double(head.place) - place);
  });
  Head next = {.place = place, .step = 1};
  if (from != unattributed_heads_.end() && place > from->place && place - from->place <= kNearPlaces) {
    next.step = place - from->place;
    unattributed_heads_.erase(from);
  }
  unattributed_heads_.push_back(next);
  if (unattributed_heads_.size() > kHeads) unattributed_heads_.pop_front();
  return place;
}

}  // namespace augur
