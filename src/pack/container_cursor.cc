// SPDX-License-Identifier: Apache-2.0
#include "pack/container_cursor.h"

#include <algorithm>
#include <string>

#include "base/units.h"

namespace augur {

Status ContainerCursor::EndsWithin(std::string_view what) const {
  return {Code::kCorrupt, Printable(container_.name) + ": ends within " + std::string(what) + " at byte " +
                              std::to_string(offset_) + ": it was cut off or damaged: make or fetch it anew"};
}

Result<bool> ContainerCursor::Fill() {
  if (!piece_.empty()) return true;
  AUGUR_TRY_ASSIGN(piece, container_.input.Next());
  piece_ = piece;
  return !piece_.empty();
}

Result<std::span<const std::byte>> ContainerCursor::Take(uint64_t bytes, std::string_view what) {
  if (bytes > left()) return EndsWithin(what);
  if (bytes > kTakeBytesMax) {
    return Status(Code::kUnsupported, Printable(container_.name) + ": " + std::string(what) + " at byte " +
                                          std::to_string(offset_) + " has " + std::to_string(bytes) +
                                          " bytes, and 1 GiB is the most that can be adopted: store it in parts");
  }
  if (bytes == 0) return std::span<const std::byte>();
  AUGUR_TRY_ASSIGN(some, Fill());
  if (!some) return EndsWithin(what);
  std::span<const std::byte> taken;
  if (piece_.size() >= bytes) {
    taken = piece_.first(bytes);
    piece_ = piece_.subspan(bytes);
  } else {
    joined_.clear();
    while (joined_.size() < bytes) {
      AUGUR_TRY_ASSIGN(more, Fill());
      if (!more) return EndsWithin(what);
      const size_t n = std::min<uint64_t>(piece_.size(), bytes - joined_.size());
      joined_.insert(joined_.end(), piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(n));
      piece_ = piece_.subspan(n);
    }
    taken = joined_;
  }
  offset_ += bytes;
  return taken;
}

Result<std::span<const std::byte>> ContainerCursor::TakeSome(uint64_t bytes_max, std::string_view what) {
  AUGUR_TRY_ASSIGN(some, Fill());
  if (!some) return EndsWithin(what);
  const std::span<const std::byte> taken = piece_.first(std::min<uint64_t>(piece_.size(), bytes_max));
  piece_ = piece_.subspan(taken.size());
  offset_ += taken.size();
  return taken;
}

Status ContainerCursor::Skip(uint64_t bytes, std::string_view what) {
  if (bytes > left()) return EndsWithin(what);
  while (bytes > 0) {
    AUGUR_TRY_ASSIGN(some, TakeSome(bytes, what));
    bytes -= some.size();
  }
  return {};
}

}  // namespace augur
