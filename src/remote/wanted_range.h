// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "augur/store.h"
#include "store/shard_source.h"

namespace augur {

// Where a block lies in its shard.
inline uint64_t OffsetOf(const WantedBlock& wanted) { return wanted.file.offset + wanted.block * kBlockBytes; }
inline uint64_t BytesOf(const WantedBlock& wanted) { return Store::BlockBytes(wanted.file, wanted.block); }

// A part of a read that is left to the server: a range of its shard, and the blocks in it that are wanted.
struct WantedRange {
  // Of the bytes that a fleet reads from the server, at most a fiftieth lie between wanted blocks: they are read twice.
  static constexpr uint64_t kBytesForGap = 50;

  uint64_t begin = 0;
  uint64_t end = 0;  // not more than begin: nothing is left
  std::vector<WantedBlock> blocks;

  // The shortest range of the read that has the blocks that `is_there` denies, by their number; all of it where the
  // read names no blocks.
  template <typename IsThere>
  static WantedRange Missing(const ShardRead& read, IsThere is_there) {
    WantedRange range;
    if (read.blocks.empty()) {
      range.begin = read.offset;
      range.end = read.offset + read.bytes;
      return range;
    }
    range.begin = read.offset + read.bytes;
    range.end = read.offset;
    for (size_t i = 0; i < read.blocks.size(); ++i) {
      if (is_there(i)) continue;
      const WantedBlock& wanted = read.blocks[i];
      range.begin = std::min(range.begin, OffsetOf(wanted));
      range.end = std::max(range.end, OffsetOf(wanted) + BytesOf(wanted));
      range.blocks.push_back(wanted);
    }
    return range;
  }

  // The same in as many ranges as it takes to leave out what lies between the blocks. A block joins the range before it
  // while two conditions hold. The range has at most one byte between its blocks for kBytesForGap bytes of them. It has
  // at most `bytes_max` in all.
  template <typename IsThere>
  static std::vector<WantedRange> MissingApart(const ShardRead& read, uint64_t bytes_max, IsThere is_there) {
    const WantedRange all = Missing(read, is_there);
    if (all.begin >= all.end) return {};
    if (all.blocks.empty()) return {all};
    std::vector<WantedRange> ranges;
    uint64_t gaps = 0;  // in the last range
    for (const WantedBlock& block : all.blocks) {
      const uint64_t begin = OffsetOf(block);
      const uint64_t end = begin + BytesOf(block);
      bool joins = false;
      if (!ranges.empty() && begin >= ranges.back().begin) {
        WantedRange& last = ranges.back();
        const uint64_t more_gaps = gaps + begin - std::min(begin, last.end);
        const uint64_t more_end = std::max(end, last.end);
        joins = more_end - last.begin <= bytes_max && more_gaps * kBytesForGap <= more_end - last.begin - more_gaps;
        if (joins) {
          gaps = more_gaps;
          last.end = more_end;
          last.blocks.push_back(block);
        }
      }
      if (joins) continue;
      ranges.push_back({.begin = begin, .end = end, .blocks = {block}});
      gaps = 0;
    }
    return ranges;
  }
};

}  // namespace augur
