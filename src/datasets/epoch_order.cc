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

}  // namespace augur
