// SPDX-License-Identifier: Apache-2.0
#include "pack/ring_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

namespace augur {
namespace {

TEST(RingArena, GivesAllOfItAndNoMore) {
  auto arena = RingArena::Make(4096);
  ASSERT_TRUE(arena.ok());
  EXPECT_TRUE(arena->Take(4097).empty());
  EXPECT_EQ(arena->Take(4096).size(), 4096u);
  EXPECT_TRUE(arena->Take(1).empty());
  arena->FreeOldest();
  EXPECT_EQ(arena->Take(1).size(), 1u);
}

TEST(RingArena, GoesRound) {
  auto arena = RingArena::Make(1024);
  ASSERT_TRUE(arena.ok());
  const auto first = arena->Take(512);
  ASSERT_FALSE(arena->Take(448).empty());
  EXPECT_TRUE(arena->Take(128).empty());  // 64 at the end, nothing at the beginning
  arena->FreeOldest();
  const auto third = arena->Take(128);
  EXPECT_EQ(third.data(), first.data());
}

// Pieces of random sizes never overlap: each is filled with its number and must still hold it when it is freed.
TEST(RingArena, PiecesNeverOverlap) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto arena = RingArena::Make(64 << 10);
  ASSERT_TRUE(arena.ok());
  std::deque<std::pair<std::span<std::byte>, std::byte>> pieces;
  const auto free_oldest = [&] {
    for (const std::byte b : pieces.front().first) ASSERT_EQ(b, pieces.front().second);
    pieces.pop_front();
    arena->FreeOldest();
  };
  for (int round = 0; round < 20000; ++round) {
    const size_t bytes = 1 + random() % (random() % 8 == 0 ? 30000 : 3000);
    const auto piece = arena->Take(bytes);
    if (piece.empty()) {
      ASSERT_FALSE(pieces.empty());
      free_oldest();
      continue;
    }
    ASSERT_EQ(piece.size(), bytes);
    const auto mark = static_cast<std::byte>(round);
    std::memset(piece.data(), round & 0xFF, bytes);
    pieces.emplace_back(piece, mark);
    if (random() % 3 == 0) free_oldest();
  }
}

}  // namespace
}  // namespace augur
