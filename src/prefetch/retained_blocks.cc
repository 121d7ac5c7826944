// SPDX-License-Identifier: Apache-2.0
#include "prefetch/retained_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "store/hash.h"

namespace augur {
namespace {

// Behind the bytes of a rendered block.
constexpr size_t kSumBytes = sizeof(uint64_t);

// Whether the last bytes of `pieces` are the sum of those before them.
bool EndsWithItsSum(RetainedCache::Pieces pieces, uint64_t bytes) {
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

// Spreads places over all bits, as a retained cache finds blocks by the lower ones; no two numbers give the same
// (splitmix64's last step).
uint64_t Mixed(uint64_t place) {
  place = (place ^ (place >> 30)) * 0xBF58476D1CE4E5B9;
  place = (place ^ (place >> 27)) * 0x94D049BB133111EB;
  return place ^ (place >> 31);
}

}  // namespace

std::optional<RetainedCacheKey> RetainedBlocks::KeyOf(const ViewFile& file, uint64_t block) const {
  const uint64_t bytes = file.BlockBytes(block);
  if (file.rendered) {
    // An odd number's multiples tell the blocks of a file apart.
    return RetainedCacheKey{.identity = {.low = file.hash.low ^ (block * 0x9E3779B97F4A7C15), .high = file.hash.high},
                            .bytes = bytes + kSumBytes};
  }
  if (retained_cache_.place() == RetainedCache::Place::kRam) {
    return RetainedCacheKey{
        .identity = {.low = Mixed(file.entry.offset + block * kBlockBytes), .high = file.entry.shard}, .bytes = bytes};
  }
  const Result<Hash128> identity = store_.BlockIdentity(file.entry, block);
  if (!identity.ok()) return std::nullopt;
  return RetainedCacheKey{.identity = *identity, .bytes = bytes};
}

bool RetainedBlocks::Contains(const ViewFile& file) const {
  const uint64_t blocks = file.block_count();
  for (uint64_t block = 0; block < blocks; ++block) {
    const std::optional<RetainedCacheKey> key = KeyOf(file, block);
    if (!key || !retained_cache_.Contains(*key)) return false;
  }
  return blocks > 0;
}

RetainedCache::Inserted RetainedBlocks::Put(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  const std::optional<RetainedCacheKey> key = KeyOf(file, block);
  if (!key) return RetainedCache::Inserted::kNoRoom;
  if (!file.rendered) {
    const bool shared = retained_cache_.place() == RetainedCache::Place::kShm;
    if (shared && !store_.CheckIdentity(file.entry, block, bytes).ok()) return RetainedCache::Inserted::kNoRoom;
    return retained_cache_.Insert(*key, bytes);
  }
  const uint64_t sum = HashBytes64(bytes);
  const std::array<std::span<const std::byte>, 2> pieces = {bytes, std::as_bytes(std::span(&sum, 1))};
  return retained_cache_.InsertPieces(*key, pieces);
}

void RetainedBlocks::InsertBlock(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  Put(file, block, bytes);
}

bool RetainedBlocks::Insert(const ViewFile& file, std::span<const std::span<const std::byte>> blocks) {
  for (uint64_t block = 0; block < blocks.size(); ++block) {
    if (Put(file, block, blocks[block]) == RetainedCache::Inserted::kNoRoom) {
      for (uint64_t done = 0; done < block; ++done) EraseBlock(file, done);
      return false;
    }
  }
  return true;
}

bool RetainedBlocks::EraseBlock(const ViewFile& file, uint64_t block) {
  const std::optional<RetainedCacheKey> key = KeyOf(file, block);
  return !key || retained_cache_.Erase(*key) || !retained_cache_.Contains(*key);
}

bool RetainedBlocks::Erase(const ViewFile& file) {
  bool all = true;
  const uint64_t blocks = file.block_count();
  for (uint64_t block = 0; block < blocks; ++block) all = EraseBlock(file, block) && all;
  return all;
}

std::optional<uint64_t> RetainedBlocks::MarkOf(const ViewFile& file, uint64_t block) const {
  const std::optional<RetainedCacheKey> key = KeyOf(file, block);
  return key ? std::optional(key->identity.low) : std::nullopt;
}

uint64_t RetainedBlocks::EvictUnknown(uint64_t bytes, std::vector<uint64_t> known) {
  std::sort(known.begin(), known.end());
  return retained_cache_.EvictUnknown(bytes, [&known](const RetainedCacheKey& key) {
    return std::binary_search(known.begin(), known.end(), key.identity.low);
  });
}

bool RetainedBlocks::IsRight(const ViewFile& file, uint64_t block, RetainedCache::Pieces pieces) const {
  if (file.rendered) return EndsWithItsSum(pieces, file.BlockBytes(block));
  // Shared memory comes as a copy, in one piece. Into memory of this process no other one has put anything.
  return pieces.size() == 1 && store_.CheckIdentity(file.entry, block, pieces[0]).ok();
}

std::optional<RetainedCache::Pin> RetainedBlocks::Find(const ViewFile& file, uint64_t block) {
  const std::optional<RetainedCacheKey> key = KeyOf(file, block);
  if (!key) return std::nullopt;
  std::optional<RetainedCache::Pin> pin =
      retained_cache_.Find(*key, [&](RetainedCache::Pieces pieces) { return IsRight(file, block, pieces); });
  if (pin && file.rendered) pin->Shorten(file.BlockBytes(block));
  return pin;
}

}  // namespace augur
