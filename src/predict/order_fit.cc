// SPDX-License-Identifier: Apache-2.0
#include "predict/order_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

// The distances of the position models, in reads: threads that share a batch, and threads that share a shuffle buffer.
// Of all scales, s says most of a read that is s places away, where exp(-d / s) / 2s has its maximum. In the midst of a
// batch of 32 no read of it is further away than 16; Keras' parallel threads come 64 apart (list_seeds.cc).
constexpr std::array<double, 2> kScales = {16, 64};
// Where the next epoch's first reads may come among this one's: its last part, in which half of a read's likelihood is
// that of the next epoch. A quarter, as the reach of EpochFollower: no reader is further ahead.
constexpr uint64_t kEndPart = 4;
// A sum that is far below the limit says no more than one at it, and must be able to come back: one read in its place
// says 4 bits in an epoch of 500 files (log2(500 / 2 / 16)).
constexpr double kBitsMin = OrderFit::kLostBits - 4;

double HalfOfEach(double a, double b) { return std::log2((std::exp2(a) + std::exp2(b)) / 2); }

// The distance of the file's nearest place from `position`, or nothing when the order does not have it.
std::optional<double> Distance(const EpochOrder& order, EntryNumber file, double position) {
  std::optional<double> least;
  for (const uint64_t item : order.PlacesOf(file)) {
    const double away = std::abs(EpochOrder::PlaceOf(item) - position);
    least = std::min(away, least.value_or(std::numeric_limits<double>::max()));
  }
  return least;
}

}  // namespace

OrderFit::OrderFit(SharedOrder order, bool from_start)
    : order_(std::move(order)), evidence_(std::make_unique<Evidence>(order_->size(), from_start)) {}

void OrderFit::SetNext(SharedOrder next) {
  next_ = std::move(next);
  next_evidence_ = std::make_unique<Evidence>(next_->size());
}

void OrderFit::Widen(SharedOrder order) {
  order_ = std::move(order);
  evidence_ = std::make_unique<Evidence>(order_->size(), false);
  next_.reset();
  next_evidence_.reset();
}

void OrderFit::Roll() {
  AUGUR_CHECK(next_ != nullptr);
  order_ = std::move(next_);
  evidence_ = std::move(next_evidence_);
  fitted_ = unfitted_ = 0;
}

double OrderFit::StreamBits(EntryNumber file, uint32_t stream, bool near_end) {
  const double before = evidence_->bits();
  (void)evidence_->AddRead(order_->PlacesOf(file), stream);
  const double gained = evidence_->bits() - before;
  if (!near_end) return gained;
  const double next_before = next_evidence_->bits();
  (void)next_evidence_->AddRead(next_->PlacesOf(file), stream);
  return HalfOfEach(gained, next_evidence_->bits() - next_before);
}

double OrderFit::PositionBits(EntryNumber file, uint32_t front, double scale, bool near_end) const {
  const auto bits = [scale](const EpochOrder& order, std::optional<double> distance) {
    const double ratio = distance ? static_cast<double>(order.size()) / (2 * scale) * std::exp(-*distance / scale) : 0;
    return std::log2((1 - Evidence::kWrong) * ratio + Evidence::kWrong);
  };
  const double here = bits(*order_, Distance(*order_, file, front));
  if (!near_end) return here;
  const double position = static_cast<double>(front) - static_cast<double>(order_->size());
  return HalfOfEach(here, bits(*next_, Distance(*next_, file, position)));
}

void OrderFit::Add(Page& page, double bits) {
  page.gained = bits;
  page.bits = std::clamp(page.bits + bits, kBitsMin, kBitsMax);
}

bool OrderFit::OnRead(EntryNumber file, uint32_t stream, uint32_t front) {
  const bool near_end = next_ != nullptr && front + order_->size() / kEndPart >= order_->size();
  Add(pages_[0], StreamBits(file, stream, near_end));
  for (size_t i = 0; i < kScales.size(); ++i) Add(pages_[i + 1], PositionBits(file, front, kScales[i], near_end));
  const Page& best = *std::ranges::max_element(pages_, {}, &Page::bits);
  ++pending_;
  if (best.bits >= kBitsMax) fitted_ += std::exchange(pending_, 0);
  return best.gained > 0;
}

bool OrderFit::lost() const {
  return std::ranges::all_of(pages_, [](const Page& page) { return page.bits < kLostBits; });
}

void OrderFit::CountAsUnfitted() { unfitted_ += std::exchange(pending_, 0); }

}  // namespace augur
