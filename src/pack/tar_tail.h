// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace augur {

// TarTail watches the bytes of a stream as they pass, in order. It knows where the last byte is that is not zero.
// So a reader who has met a tar's end mark can tell padding from a lost part. And it has the latest header at hand.
// One thread. Keeps no byte but the 512 before the latest piece; that stays the caller's, and valid until LetGo.
class TarTail {
 public:
  static constexpr size_t kBlock = 512;  // of a tar

  // REQUIRES: the piece before it is still valid, or was let go.
  void Add(std::span<const std::byte> piece);
  // The latest piece is about to become invalid.
  void LetGo();

  // Bytes that have passed.
  uint64_t bytes() const { return before_ + piece_.size(); }
  // Offset behind the last one that is not zero; 0: there is none.
  uint64_t data_end() const { return data_end_; }
  // The byte at `at` of the block that ends at `block_end`; nothing when that block is no longer at hand.
  std::optional<std::byte> ByteOfBlock(uint64_t block_end, size_t at) const;

 private:
  uint64_t before_ = 0;  // bytes before piece_
  uint64_t data_end_ = 0;
  std::span<const std::byte> piece_;
  std::array<std::byte, kBlock> kept_ = {};  // the bytes right before piece_
};

}  // namespace augur
