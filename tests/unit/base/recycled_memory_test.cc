// SPDX-License-Identifier: Apache-2.0
#include "base/recycled_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace augur {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class RecycledMemoryTest : public testing::Test {
 protected:
  void TearDown() override {
    RecycledMemory::KeepAtMost(0);
    EXPECT_EQ(RecycledMemory::idle_bytes(), 0U);
  }
};

TEST_F(RecycledMemoryTest, APieceServesTheNextOfItsSize) {
  RecycledMemory::KeepAtMost(4 * kMiB);
  auto first = RecycledMemory::Take<uint8_t>(kMiB - 5);
  const uint8_t* const place = first.get();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(place) % 4096, 0U);
  first.reset();
  EXPECT_EQ(RecycledMemory::idle_bytes(), kMiB);
  const auto longer = RecycledMemory::Take<uint8_t>(3 * kMiB);
  EXPECT_NE(longer.get(), place);
  const auto shorter = RecycledMemory::Take<uint8_t>(kMiB / 2 - 70'000);
  EXPECT_EQ(shorter.get_deleter().bytes, kMiB / 16 * 7) << "it would waste more than half";
  const auto second = RecycledMemory::Take<uint8_t>(kMiB - 100'000);
  EXPECT_EQ(second.get(), place);
  EXPECT_EQ(RecycledMemory::idle_bytes(), 0U);
}

TEST_F(RecycledMemoryTest, TheOneThatFitsBestIsTaken) {
  RecycledMemory::KeepAtMost(8 * kMiB);
  auto large = RecycledMemory::Take<uint8_t>(2 * kMiB);
  auto medium = RecycledMemory::Take<uint8_t>(3 * kMiB / 2);
  const uint8_t* const places[] = {medium.get(), large.get()};
  large.reset();
  medium.reset();
  const auto first = RecycledMemory::Take<uint8_t>(kMiB);
  const auto second = RecycledMemory::Take<uint8_t>(kMiB);
  EXPECT_EQ(first.get(), places[0]);
  EXPECT_EQ(second.get(), places[1]);
  EXPECT_EQ(second.get_deleter().bytes, 2 * kMiB);
}

TEST_F(RecycledMemoryTest, WhatWasGivenBackFirstGoes) {
  RecycledMemory::KeepAtMost(2 * kMiB);
  auto old = RecycledMemory::Take<uint8_t>(kMiB);
  auto young = RecycledMemory::Take<uint8_t>(kMiB);
  auto youngest = RecycledMemory::Take<uint8_t>(kMiB);
  const uint8_t* const place = youngest.get();
  old.reset();
  young.reset();
  youngest.reset();
  EXPECT_EQ(RecycledMemory::idle_bytes(), 2 * kMiB);
  EXPECT_EQ(RecycledMemory::Take<uint8_t>(kMiB).get(), place);
  RecycledMemory::KeepAtMost(kMiB);
  EXPECT_EQ(RecycledMemory::idle_bytes(), kMiB);
  RecycledMemory::Take<uint8_t>(2 * kMiB).reset();
  EXPECT_EQ(RecycledMemory::idle_bytes(), 0U) << "larger than all that may be kept, and what was there went before it";
}

TEST_F(RecycledMemoryTest, PiecesHaveFewSizes) {
  EXPECT_EQ(RecycledMemory::PieceBytes(0), 0U);
  EXPECT_EQ(RecycledMemory::PieceBytes(65'535), 65'535U);
  EXPECT_EQ(RecycledMemory::PieceBytes(65'536), 65'536U);
  EXPECT_EQ(RecycledMemory::PieceBytes(65'537), 81'920U);
  EXPECT_EQ(RecycledMemory::PieceBytes(7 * kMiB + 1), 8 * kMiB);
  for (size_t bytes = 65'536; bytes < 64 * kMiB; bytes = bytes * 9 / 8 + 1) {
    EXPECT_GE(RecycledMemory::PieceBytes(bytes), bytes);
    EXPECT_LE(RecycledMemory::PieceBytes(bytes), bytes + bytes / 4);
  }
}

TEST_F(RecycledMemoryTest, SmallOnesAreNotKept) {
  RecycledMemory::KeepAtMost(kMiB);
  RecycledMemory::Take<uint8_t>(1000).reset();
  RecycledMemory::Take<uint8_t>(0).reset();
  EXPECT_EQ(RecycledMemory::idle_bytes(), 0U);
}

TEST_F(RecycledMemoryTest, NoPieceIsHadTwice) {
  RecycledMemory::KeepAtMost(2 * kMiB);
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([thread] {
      for (int turn = 0; turn < 2000; ++turn) {
        const size_t bytes = 65'536 + static_cast<size_t>(turn % 5) * 20'000;
        const auto piece = RecycledMemory::Take<uint8_t>(bytes);
        std::memset(piece.get(), thread, 64);
        piece[bytes - 1] = static_cast<uint8_t>(thread);
        std::this_thread::yield();
        for (int i = 0; i < 64; ++i) ASSERT_EQ(piece[static_cast<size_t>(i)], thread);
        ASSERT_EQ(piece[bytes - 1], thread);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(RecycledMemory::idle_bytes(), 2 * kMiB);
}

}  // namespace
}  // namespace augur
