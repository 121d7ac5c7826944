// SPDX-License-Identifier: Apache-2.0
#include "datasets/epoch_order.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

EpochOrder::EpochOrder(Order files) : files_(std::move(files)) {
  AUGUR_CHECK(files_.size() < (uint64_t{1} << 32));
  by_file_.reserve(files_.size());
  for (size_t place = 0; place < files_.size(); ++place) by_file_.push_back(uint64_t{files_[place]} << 32 | place);
  std::ranges::sort(by_file_);
}

std::span<const uint64_t> EpochOrder::PlacesOf(EntryNumber file) const {
  const auto first = std::ranges::lower_bound(by_file_, uint64_t{file} << 32);
  auto last = first;
  while (last != by_file_.end() && *last >> 32 == file) ++last;
  return {first, last};
}

std::optional<uint32_t> EpochOrder::PlaceFrom(EntryNumber file, uint32_t first) const {
  const auto item = std::ranges::lower_bound(by_file_, uint64_t{file} << 32 | first);
  if (item == by_file_.end() || *item >> 32 != file) return std::nullopt;
  return PlaceOf(*item);
}

SharedOrder PartOf(const SharedOrder& order, uint64_t first, uint64_t count) {
  if (first == 0 && count >= order->size()) return order;
  const std::span<const EntryNumber> files = std::span(order->files()).subspan(first);
  const auto part = files.first(std::min(files.size(), count));
  return std::make_shared<const EpochOrder>(Order(part.begin(), part.end()));
}

}  // namespace augur
