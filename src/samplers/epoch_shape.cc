// SPDX-License-Identifier: Apache-2.0
#include "samplers/epoch_shape.h"

#include <algorithm>

#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kSelectedRound = 256;

}  // namespace

uint64_t EpochShape::Length(uint64_t listed) const {
  const uint64_t repeated = listed * repeats;
  const uint64_t length = drop_last ? repeated / multiple * multiple : RoundUp(repeated, multiple);
  if (selection == Selection::kAll) return length;
  // Each rank takes its share of the rounded list and leaves the rest of the repeats unread.
  const uint64_t rounded = listed / kSelectedRound * kSelectedRound;
  const bool is_small = selection == Selection::kTimm && listed < kSelectedRound;
  const uint64_t selected = is_small ? RoundUp(listed, multiple) : rounded / multiple * multiple;
  return std::min(selected, length);
}

uint64_t EpochShape::Needed(uint64_t listed, uint64_t count) const {
  return std::min(listed, RoundUp(std::min(count, Length(listed)), repeats) / repeats);
}

void EpochShape::Apply(uint64_t listed, size_t count, IndexOrder* indices) const {
  const uint64_t length = std::min<uint64_t>(count, Length(listed));
  const uint64_t needed = indices->size();
  indices->resize(length);
  if (repeats > 1) {
    // From the end, so that none is overwritten before it was read: index i of the list goes to places from i *
    // repeats.
    for (uint64_t at = std::min(length, needed * repeats); at-- > 0;) (*indices)[at] = (*indices)[at / repeats];
  }
  // Where the list ends it begins again.
  for (uint64_t at = listed * repeats; at < length; ++at) (*indices)[at] = (*indices)[at - listed * repeats];
}

}  // namespace augur
