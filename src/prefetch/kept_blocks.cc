// SPDX-License-Identifier: Apache-2.0
#include "prefetch/kept_blocks.h"

#include "store/hash.h"

namespace augur {
namespace {

RecordKey KeyOf(const Entry& file, uint64_t block) { return {.hash = file.hash, .size = file.size, .block = block}; }

}  // namespace

bool KeptBlocks::Contains(const Entry& file) const {
  const uint64_t blocks = Store::BlockCount(file);
  for (uint64_t block = 0; block < blocks; ++block) {
    if (!warehouse_.Contains(KeyOf(file, block))) return false;
  }
  return blocks > 0;
}

bool KeptBlocks::Insert(const Entry& file, std::span<const std::span<const std::byte>> blocks) {
  for (uint64_t block = 0; block < blocks.size(); ++block) {
    if (warehouse_.Insert(KeyOf(file, block), blocks[block]) == Warehouse::Inserted::kNoRoom) {
      for (uint64_t done = 0; done < block; ++done) warehouse_.Erase(KeyOf(file, done));
      return false;
    }
  }
  return true;
}

bool KeptBlocks::Erase(const Entry& file) {
  bool all = true;
  const uint64_t blocks = Store::BlockCount(file);
  for (uint64_t block = 0; block < blocks; ++block) {
    const RecordKey key = KeyOf(file, block);
    if (!warehouse_.Erase(key) && warehouse_.Contains(key)) all = false;
  }
  return all;
}

std::optional<Warehouse::Pin> KeptBlocks::Find(const Entry& file, uint64_t block) {
  return warehouse_.Find(KeyOf(file, block), [&](Warehouse::Pieces pieces) {
    const Result<Hash128> expected = store_.BlockHash(file, block);
    if (!expected.ok()) return false;
    if (pieces.size() == 1) return HashBytes128(pieces[0]) == *expected;
    Hasher128 hasher;
    for (const std::span<const std::byte> piece : pieces) hasher.Add(piece);
    return hasher.Digest() == *expected;
  });
}

}  // namespace augur
