// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace augur {

// SampleCache keeps values that were made for lists of samples, by key, within a number of bytes. The least recently
// used goes first, and one that is larger than all the room is not kept. Values are shared, so who holds one keeps it.
// One thread at a time. `Value` has memory_bytes().
template <typename Value>
class SampleCache {
 public:
  explicit SampleCache(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Nullptr when it is not kept.
  std::shared_ptr<const Value> Find(const std::string& key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->value;
  }

  // REQUIRES: there is nothing with this key.
  void Add(const std::string& key, std::shared_ptr<const Value> value) {
    const uint64_t bytes = value->memory_bytes() + kItemBytes + 2 * key.size();
    if (bytes > bytes_max_) return;
    while (bytes_ + bytes > bytes_max_) {
      bytes_ -= items_.back().bytes;
      by_key_.erase(items_.back().key);
      items_.pop_back();
    }
    items_.push_front({.key = key, .value = std::move(value), .bytes = bytes});
    by_key_[key] = items_.begin();
    bytes_ += bytes;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kItemBytes = 200;  // of an empty value, the list and the hash map

  struct Item {
    std::string key;
    std::shared_ptr<const Value> value;
    uint64_t bytes;
  };

  const uint64_t bytes_max_;
  std::list<Item> items_;  // the last used first, at most bytes_max_ in all: for a new one the last of them go
  std::unordered_map<std::string, typename std::list<Item>::iterator> by_key_;
  uint64_t bytes_ = 0;
};

}  // namespace augur
