// SPDX-License-Identifier: Apache-2.0
#include "policy_belady.h"

#include "base/check.h"

namespace augur {

bool BeladyPolicy::Wants(Key key, uint64_t bytes, Use next_use) const {
  if (kept_.contains(key)) return true;
  if (bytes > bytes_max_) return false;
  uint64_t free = bytes_max_ - bytes_;
  for (auto at = by_use_.rbegin(); free < bytes; ++at) {
    // Of two that are needed at the same time, what is there already stays: it costs nothing.
    if (at == by_use_.rend() || at->first <= next_use) return false;
    free += kept_.at(at->second).bytes;
  }
  return true;
}

bool BeladyPolicy::Offer(Key key, uint64_t bytes, Use next_use, std::vector<Key>* evicted) {
  if (kept_.contains(key)) {
    SetNextUse(key, next_use);
    return true;
  }
  if (!Wants(key, bytes, next_use)) return false;
  while (bytes_max_ - bytes_ < bytes) EvictLast(evicted);
  kept_.emplace(key, Kept{.bytes = bytes, .next_use = next_use});
  by_use_.emplace(next_use, key);
  bytes_ += bytes;
  return true;
}

void BeladyPolicy::SetNextUse(Key key, Use next_use) {
  const auto found = kept_.find(key);
  if (found == kept_.end() || found->second.next_use == next_use) return;
  by_use_.erase({found->second.next_use, key});
  by_use_.emplace(next_use, key);
  found->second.next_use = next_use;
}

void BeladyPolicy::Remove(Key key) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  by_use_.erase({found->second.next_use, key});
  bytes_ -= found->second.bytes;
  kept_.erase(found);
}

void BeladyPolicy::Resize(uint64_t bytes_max, std::vector<Key>* evicted) {
  while (bytes_ > bytes_max) EvictLast(evicted);
  bytes_max_ = bytes_max;
}

void BeladyPolicy::EvictLast(std::vector<Key>* evicted) {
  AUGUR_CHECK(!by_use_.empty());
  const Key key = by_use_.rbegin()->second;
  Remove(key);
  evicted->push_back(key);
}

}  // namespace augur
