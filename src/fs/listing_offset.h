// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/status.h"
#include "augur/store.h"

namespace augur {

// The offset of an item in a folder, as readdir(3) has it. It is the place in the listing, and the generation that has
// that listing: which of those that the mount has shown, counted from 0. A program may go on with a listing that it has
// begun in an earlier one.
struct ListingOffset {
  static constexpr int kPlaceBits = 40;
  static constexpr uint64_t kSequenceMax =
      (uint64_t{1} << 23) - 1;  // so that an offset is not negative; then from 0 on

  uint64_t sequence = 0;
  uint64_t place = 0;

  static ListingOffset Of(uint64_t offset) {
    return {.sequence = offset >> kPlaceBits, .place = offset & ((uint64_t{1} << kPlaceBits) - 1)};
  }
  uint64_t value() const { return (sequence & kSequenceMax) << kPlaceBits | place; }
};

// Where the listing of `folder`, of generation `after`, goes on for a program that has had the items in front of
// `place` in generation `before`. That is at the first one of the others that both have. So no item that stays is given
// twice, or left out. The path of the folder may be none in `before`: then there is nothing to go on with, and it is
// the end.
Result<uint64_t> PlaceAfterReload(const Store& before, const Store& after, const Entry& folder, uint64_t place);

}  // namespace augur
