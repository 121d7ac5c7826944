// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "augur/entry.h"

namespace augur {

// Names one block of one store by its place. Files that have the same record have the same place, so they share it. Not
// by its hash: XXH3 can be forged, and one file would get bytes that were made to have the hash of another. All that
// the index states of the record is in the key, too: of two entries that state different sizes or hashes for one place,
// each is checked for itself.
struct BlockKey {
  uint32_t shard = 0;
  uint64_t offset = 0;       // of the record in the shard
  uint64_t size = 0;         // of the record, bytes
  uint64_t first_block = 0;  // where the index has the hashes of its blocks
  Hash128 hash = {};         // of the record
  uint64_t block = 0;

  static BlockKey Of(const Entry& file, uint64_t block) {
    return {.shard = file.shard,
            .offset = file.offset,
            .size = file.size,
            .first_block = file.first_block,
            .hash = file.hash,
            .block = block};
  }
  bool operator==(const BlockKey&) const = default;

  // Good in its low bits, too, although records may begin at multiples of 512.
  size_t Spread() const {
    // Odd factors: 2^64 / golden ratio, and the square root of 2's.
    uint64_t mixed = (offset + (uint64_t{shard} << 40)) * 0x9E3779B97F4A7C15;
    mixed ^= (block + size) * 0xB504F333F9DE6485;
    return static_cast<size_t>(mixed ^ mixed >> 32);
  }
};

}  // namespace augur
