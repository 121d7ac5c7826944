// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace augur {

// SwapMap is the list 0, 1, 2, ... of which only the changed places are held: memory and time follow the changes, not
// the length of the list. For one thread. Places and values are below 2^32 - 1.
class SwapMap {
 public:
  // At most `changes_max` places will be changed.
  explicit SwapMap(size_t changes_max)
      : slots_(std::bit_ceil(changes_max * 2 + 1), Slot{}), shift_(64 - std::countr_zero(slots_.size())) {}

  // What lies in a place.
  uint32_t At(uint32_t place) const {
    const Slot& slot = slots_[Find(place)];
    return slot.place == kNobody ? place : slot.value;
  }

  // Puts `value` there. Gives what lay there before.
  uint32_t Exchange(uint32_t place, uint32_t value) {
    Slot& slot = slots_[Find(place)];
    const uint32_t before = slot.place == kNobody ? place : slot.value;
    slot = {.place = place, .value = value};
    return before;
  }

 private:
  static constexpr uint32_t kNobody = 0xffffffffU;
  struct Slot {
    uint32_t place = kNobody;
    uint32_t value = 0;
  };

  // The slot that has the place, or the free one where it belongs. At least half of the slots are free.
  size_t Find(uint32_t place) const {
    // Multiplied by 2^64 / golden ratio, so that neighbouring places spread over the slots (Knuth, TAOCP 3, 6.4).
    size_t slot = shift_ == 64 ? 0 : (place * 0x9e3779b97f4a7c15U) >> shift_;
    while (slots_[slot].place != kNobody && slots_[slot].place != place) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  std::vector<Slot> slots_;
  const int shift_;
};

}  // namespace augur
