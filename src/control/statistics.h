// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace augur {

// Every counter of the daemon, declared once here and described in kStatDefinitions.
enum class Stat : size_t {
  kReads,
  kReadBytes,
  kReadFailures,
  kCorruptBlocks,
  kDiskReads,
  kDiskBytes,
  kStatCount,  // not a counter
};

struct StatDefinition {
  Stat stat;
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  std::string_view excludes;  // what is not counted
};

inline constexpr size_t kStatCount = static_cast<size_t>(Stat::kStatCount);
extern const std::array<StatDefinition, kStatCount> kStatDefinitions;

// Counters that only grow, from the start of the daemon. Safe from any thread; a reader sees each counter by itself,
// not all at one moment.
class Statistics {
 public:
  void Add(Stat stat, uint64_t amount) {
    values_[static_cast<size_t>(stat)].fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t Get(Stat stat) const { return values_[static_cast<size_t>(stat)].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kStatCount> values_{};
};

}  // namespace augur
