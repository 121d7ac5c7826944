// SPDX-License-Identifier: Apache-2.0
#include "prefetch/kept_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "store/hash.h"

namespace augur {
namespace {

// Behind the bytes of what was made.
constexpr size_t kSumBytes = sizeof(uint64_t);

// Whether the last bytes of `pieces` are the sum of those before them.
bool EndsWithItsSum(Warehouse::Pieces pieces, uint64_t bytes) {
  Hasher64 hasher;
  std::array<std::byte, kSumBytes> found;
  size_t sum_bytes = 0;
  for (const std::span<const std::byte> piece : pieces) {
    const auto content = piece.first(std::min<uint64_t>(bytes, piece.size()));
    hasher.Add(content);
    bytes -= content.size();
    for (const std::byte byte : piece.subspan(content.size())) {
      if (sum_bytes == kSumBytes) return false;
      found[sum_bytes++] = byte;
    }
  }
  uint64_t sum = 0;
  std::memcpy(&sum, found.data(), kSumBytes);
  return bytes == 0 && sum_bytes == kSumBytes && sum == hasher.Digest();
}

}  // namespace

bool KeptBlocks::Contains(const ShownFile& file) const {
  const uint64_t blocks = file.block_count();
  for (uint64_t block = 0; block < blocks; ++block) {
    if (!warehouse_.Contains(file.KeyOf(block))) return false;
  }
  return blocks > 0;
}

Warehouse::Inserted KeptBlocks::Put(const ShownFile& file, uint64_t block, std::span<const std::byte> bytes) {
  if (!file.made) return warehouse_.Insert(file.KeyOf(block), bytes);
  const uint64_t sum = HashBytes64(bytes);
  const std::array<std::span<const std::byte>, 2> pieces = {bytes, std::as_bytes(std::span(&sum, 1))};
  return warehouse_.InsertPieces(file.KeyOf(block), pieces);
}

void KeptBlocks::InsertBlock(const ShownFile& file, uint64_t block, std::span<const std::byte> bytes) {
  Put(file, block, bytes);
}

bool KeptBlocks::Insert(const ShownFile& file, std::span<const std::span<const std::byte>> blocks) {
  for (uint64_t block = 0; block < blocks.size(); ++block) {
    if (Put(file, block, blocks[block]) == Warehouse::Inserted::kNoRoom) {
      for (uint64_t done = 0; done < block; ++done) warehouse_.Erase(file.KeyOf(done));
      return false;
    }
  }
  return true;
}

bool KeptBlocks::Erase(const ShownFile& file) {
  bool all = true;
  const uint64_t blocks = file.block_count();
  for (uint64_t block = 0; block < blocks; ++block) {
    const RecordKey key = file.KeyOf(block);
    if (!warehouse_.Erase(key) && warehouse_.Contains(key)) all = false;
  }
  return all;
}

uint64_t KeptBlocks::MarkOf(const RecordKey& key) { return key.hash.low ^ (key.block * 0x9E3779B97F4A7C15); }

uint64_t KeptBlocks::EvictUnknown(uint64_t bytes, std::vector<uint64_t> known) {
  std::sort(known.begin(), known.end());
  return warehouse_.EvictUnknown(
      bytes, [&known](const RecordKey& key) { return std::binary_search(known.begin(), known.end(), MarkOf(key)); });
}

bool KeptBlocks::IsRight(const ShownFile& file, uint64_t block, Warehouse::Pieces pieces) const {
  if (file.made) return EndsWithItsSum(pieces, file.BlockBytes(block));
  const Result<Hash128> expected = store_.BlockHash(file.entry, block);
  if (!expected.ok()) return false;
  if (pieces.size() == 1) return HashBytes128(pieces[0]) == *expected;
  Hasher128 hasher;
  for (const std::span<const std::byte> piece : pieces) hasher.Add(piece);
  return hasher.Digest() == *expected;
}

std::optional<Warehouse::Pin> KeptBlocks::Find(const ShownFile& file, uint64_t block) {
  std::optional<Warehouse::Pin> pin =
      warehouse_.Find(file.KeyOf(block), [&](Warehouse::Pieces pieces) { return IsRight(file, block, pieces); });
  if (pin && file.made) pin->Shorten(file.BlockBytes(block));
  return pin;
}

}  // namespace augur
