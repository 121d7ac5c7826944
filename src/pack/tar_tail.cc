// SPDX-License-Identifier: Apache-2.0
#include "pack/tar_tail.h"

#include <algorithm>

namespace augur {

void TarTail::LetGo() {
  const size_t keep = std::min(piece_.size(), kBlock);
  std::shift_left(kept_.begin(), kept_.end(), static_cast<std::ptrdiff_t>(keep));
  std::copy(piece_.end() - static_cast<std::ptrdiff_t>(keep), piece_.end(),
            kept_.end() - static_cast<std::ptrdiff_t>(keep));
  before_ += piece_.size();
  piece_ = {};
}

void TarTail::Add(std::span<const std::byte> piece) {
  LetGo();
  piece_ = piece;
  const auto last = std::find_if(piece.rbegin(), piece.rend(), [](std::byte b) { return b != std::byte{0}; });
  if (last != piece.rend()) data_end_ = before_ + static_cast<uint64_t>(piece.rend() - last);
}

std::optional<std::byte> TarTail::ByteOfBlock(uint64_t block_end, size_t at) const {
  if (block_end < kBlock || at >= kBlock) return std::nullopt;
  const uint64_t offset = block_end - kBlock + at;
  if (offset >= bytes() || offset + kBlock < before_) return std::nullopt;
  if (offset >= before_) return piece_[offset - before_];
  return kept_[offset + kBlock - before_];
}

}  // namespace augur
