// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cache/retained_cache.h"

namespace augur {

inline constexpr size_t kBlockBytesMin = 40'000;
inline constexpr size_t kBlockBytesMax = 180'000;

inline size_t BlockBytes(uint64_t id) {
  return kBlockBytesMin + id * 0x9E3779B97F4A7C15 % (kBlockBytesMax - kBlockBytesMin + 1);
}

inline RetainedCacheKey KeyOf(uint64_t id) {
  return {.identity = {.low = id * 0xBF58476D1CE4E5B9, .high = id}, .bytes = BlockBytes(id)};
}

// What retained_cache_bench measures: something that keeps blocks by their numbers.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual bool Insert(uint64_t id, std::span<const std::byte> bytes) = 0;
  virtual bool Erase(uint64_t id) = 0;
  virtual bool CanErase() const { return true; }
  // Copies the block to `out`.
  virtual bool Read(uint64_t id, std::byte* out) = 0;
};

using Opener = std::unique_ptr<Contender> (*)(const std::string& folder, uint64_t size);

// Each says on stderr why it cannot be opened, and gives nullptr.
std::unique_ptr<Contender> OpenArena(const std::string& folder, uint64_t size);  // the retained cache
std::unique_ptr<Contender> OpenLmdb(const std::string& folder, uint64_t size);
std::unique_ptr<Contender> OpenSegments(const std::string& folder, uint64_t size);  // a disk cache

}  // namespace augur
