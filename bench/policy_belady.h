// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace augur {

// BeladyPolicy is what to keep when the order is known and not all fits: what is needed soonest. A record that comes
// evicts those that are needed later than it, the latest first, and is not admitted when they do not make room. With
// records of one size no policy has fewer misses (Belady 1966, here with the choice not to admit); with sizes that
// differ it is the usual approximation.
// Numbers only: it holds no bytes. One thread at a time. Each call is O(log n) for each record that it moves. Memory:
// about 120 bytes a record.
class BeladyPolicy {
 public:
  using Key = uint64_t;
  using Use = uint64_t;  // a place in the order, over all epochs; what is needed sooner has the smaller one
  static constexpr Use kNever = std::numeric_limits<Use>::max();  // not needed again, as far as the order is known

  explicit BeladyPolicy(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  BeladyPolicy(const BeladyPolicy&) = delete;
  BeladyPolicy& operator=(const BeladyPolicy&) = delete;

  // Offers a record that will be used next at `next_use`. Kept already: only its next use is set. True: it is kept, and
  // what was evicted for it is appended to `evicted`. False: it is not, and nothing was evicted.
  bool Offer(Key key, uint64_t bytes, Use next_use, std::vector<Key>* evicted);
  // Whether Offer would keep it.
  bool Wants(Key key, uint64_t bytes, Use next_use) const;
  // The record's next use has changed: it was read, or more of the order became known. Absent: does nothing.
  void SetNextUse(Key key, Use next_use);
  // Absent: does nothing.
  void Remove(Key key);
  // Evicts, the latest first, until at most `bytes_max` bytes are kept, and keeps to that from now on.
  void Resize(uint64_t bytes_max, std::vector<Key>* evicted);

  bool Contains(Key key) const { return kept_.contains(key); }
  uint64_t bytes() const { return bytes_; }
  uint64_t bytes_max() const { return bytes_max_; }
  size_t count() const { return kept_.size(); }

 private:
  struct Kept {
    uint64_t bytes;
    Use next_use;
  };

  void EvictLast(std::vector<Key>* evicted);

  uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::unordered_map<Key, Kept> kept_;
  std::set<std::pair<Use, Key>> by_use_;  // the same records; the last goes first
};

}  // namespace augur
