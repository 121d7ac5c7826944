// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "prefetch/read_schedule.h"

namespace augur {

// UseQueue is a set of files with their sizes, in the order of their next use. It finds the file that is needed
// soonest, and the one that is needed last and has to go first when there is no room. Source: L. A. Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966. Not synchronized.
class UseQueue {
 public:
  bool Contains(Slot slot) const { return items_.contains(slot); }
  // REQUIRES: not contained.
  void Add(Slot slot, Position use, uint64_t bytes) {
    AUGUR_CHECK(items_.try_emplace(slot, Item{use, bytes}).second);
    order_.emplace(use, slot);
    bytes_ += bytes;
  }
  // Nothing when it is not contained.
  void Remove(Slot slot) {
    const auto at = items_.find(slot);
    if (at == items_.end()) return;
    order_.erase({at->second.use, slot});
    bytes_ -= at->second.bytes;
    items_.erase(at);
  }
  // REQUIRES: contained.
  void Move(Slot slot, Position use) {
    const auto at = items_.find(slot);
    AUGUR_CHECK(at != items_.end());
    if (at->second.use == use) return;
    order_.erase({at->second.use, slot});
    at->second.use = use;
    order_.emplace(use, slot);
  }
  // REQUIRES: contained.
  Position UseOf(Slot slot) const {
    const auto at = items_.find(slot);
    AUGUR_CHECK(at != items_.end());
    return at->second.use;
  }
  // Computes every use anew by use(slot).
  template <typename Use>
  void MoveAll(const Use& use) {
    std::vector<std::pair<Position, Slot>> sorted;
    sorted.reserve(items_.size());
    for (auto& [slot, item] : items_) {
      item.use = use(slot);
      sorted.emplace_back(item.use, slot);
    }
    std::sort(sorted.begin(), sorted.end());
    order_ = std::set(sorted.begin(), sorted.end());  // of a sorted range: no search for each
  }

  bool empty() const { return items_.empty(); }
  uint64_t count() const { return items_.size(); }
  uint64_t bytes() const { return bytes_; }
  // REQUIRES of both: not empty.
  std::pair<Position, Slot> soonest() const { return *order_.begin(); }
  std::pair<Position, Slot> last() const { return *order_.rbegin(); }
  // Whether the files that are needed last make up `bytes`, with each of them passing late(use).
  template <typename Late>
  bool LastBytes(uint64_t bytes, const Late& late) const {
    uint64_t sum = 0;
    for (auto at = order_.rbegin(); at != order_.rend() && sum < bytes; ++at) {
      if (!late(at->first)) return false;
      sum += items_.at(at->second).bytes;
    }
    return sum >= bytes;
  }
  const std::set<std::pair<Position, Slot>>& in_order() const { return order_; }

 private:
  struct Item {
    Position use = kNever;
    uint64_t bytes = 0;
  };
  std::unordered_map<Slot, Item> items_;
  std::set<std::pair<Position, Slot>> order_;
  uint64_t bytes_ = 0;
};

}  // namespace augur
