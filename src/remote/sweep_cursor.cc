// SPDX-License-Identifier: Apache-2.0
#include "remote/sweep_cursor.h"

#include <algorithm>
#include <utility>

namespace augur {

std::vector<WantedBlock> SweepCursor::Next() {
  std::vector<WantedBlock> piece;
  uint64_t bytes = 0;
  for (; entry_ < store_->summary().entry_count; ++entry_, block_ = 0) {
    const Result<Entry> file = store_->Get(entry_);
    if (!file.ok() || file->type != EntryType::kFile) continue;
    for (; block_ < Store::BlockCount(*file); ++block_) {
      bytes += Store::BlockBytes(*file, block_);
      if (!piece.empty() && (bytes > kPieceBytes || piece.size() == kPieceBlocks)) break;
      piece.push_back({.file = *file, .block = block_});
    }
    if (block_ < Store::BlockCount(*file)) break;
  }
  std::ranges::sort(piece, {}, [](const WantedBlock& one) {
    return std::pair(one.file.shard, one.file.offset + one.block * kBlockBytes);
  });
  return piece;
}

uint64_t SweepCursor::percent() const { return entry_ * 100 / std::max<uint64_t>(store_->summary().entry_count, 1); }

}  // namespace augur
