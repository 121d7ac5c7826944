// SPDX-License-Identifier: Apache-2.0
#include "pack/tar_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace augur {
namespace {

// A source of pieces that overwrites each before it gives the next, as a filter of libarchive does.
TEST(TarTail, NeedsNoPieceThatWasLetGo) {
  std::mt19937_64 random(5);
  std::vector<std::byte> stream(20'000);
  for (std::byte& byte : stream) byte = static_cast<std::byte>(1 + random() % 255);
  TarTail tail;
  std::vector<std::byte> piece;
  size_t at = 0;
  while (at < stream.size()) {
    tail.LetGo();
    std::ranges::fill(piece, std::byte{0xEE});
    const size_t bytes = std::min<size_t>(1 + random() % 900, stream.size() - at);
    piece.assign(stream.begin() + static_cast<std::ptrdiff_t>(at),
                 stream.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    tail.Add(piece);
    at += bytes;
    ASSERT_EQ(tail.bytes(), at);
    ASSERT_EQ(tail.data_end(), at);
    // The block that ends with what has passed.
    if (at < TarTail::kBlock) continue;
    for (size_t i = 0; i < TarTail::kBlock; i += 37) {
      ASSERT_EQ(tail.ByteOfBlock(at, i), std::optional(stream[at - TarTail::kBlock + i])) << at << " " << i;
    }
  }
}

TEST(TarTail, ZerosAreNoData) {
  const std::vector<std::byte> data(700, std::byte{1});
  const std::vector<std::byte> zeros(5'000);
  TarTail tail;
  EXPECT_EQ(tail.data_end(), 0U);
  tail.Add(zeros);
  EXPECT_EQ(tail.data_end(), 0U);
  tail.Add(data);
  EXPECT_EQ(tail.data_end(), 5'700U);
  tail.Add(zeros);
  EXPECT_EQ(tail.data_end(), 5'700U);
  EXPECT_EQ(tail.bytes(), 10'700U);
}

}  // namespace
}  // namespace augur
