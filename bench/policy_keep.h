// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

namespace augur {

// KeepPolicy is what to keep when the order is not known and not all fits: whatever came first. Nothing is evicted, so
// a shuffled epoch finds exactly the share that fits; evicting the least recently used throws away what has yet to come
// (it finds c + (1 - c) ln(1 - c) of a share c: 3 % with a quarter of the data).
// Numbers only: it holds no bytes. One thread at a time. Memory: about 40 bytes a record.
class KeepPolicy {
 public:
  using Key = uint64_t;

  explicit KeepPolicy(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Whether the record is kept from now on: it was before, or there is room for it.
  bool Admit(Key key, uint64_t bytes) {
    if (kept_.contains(key)) return true;
    if (bytes > bytes_max_ - bytes_) return false;
    kept_.emplace(key, bytes);
    bytes_ += bytes;
    return true;
  }
  bool Contains(Key key) const { return kept_.contains(key); }
  // Absent: does nothing.
  void Remove(Key key) {
    const auto found = kept_.find(key);
    if (found == kept_.end()) return;
    bytes_ -= found->second;
    kept_.erase(found);
  }
  uint64_t bytes() const { return bytes_; }

 private:
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::unordered_map<Key, uint64_t> kept_;  // bytes of each
};

}  // namespace augur
