// SPDX-License-Identifier: Apache-2.0
#include "store/index_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace augur {
namespace {

using ::testing::Each;

constexpr uint64_t kBlockCount = 40;
constexpr size_t kBlockBytes = IndexBlocks::kBlockBytes;

// What block `block` holds: its number in every byte, plus `offset`.
std::byte ByteOf(uint64_t block, unsigned offset = 0) { return static_cast<std::byte>(block + offset); }

// Blocks of one byte each, and a count of how often each was read.
struct Source {
  std::array<std::atomic<unsigned>, kBlockCount> reads{};
  std::atomic<unsigned> offset = 0;  // what the file has become
  std::atomic<bool> fails = false;

  IndexBlocks::Read Reader() {
    return [this](uint64_t block, std::span<std::byte> to) {
      ++reads[block];
      if (fails) return Status(Code::kIo, "gone");
      std::ranges::fill(to, ByteOf(block, offset));
      return Status::Ok();
    };
  }
};

std::unique_ptr<IndexBlocks> Make(Source& source, IndexBlocks::Range kept, uint64_t blocks_max) {
  Result<std::unique_ptr<IndexBlocks>> made =
      IndexBlocks::Make(kBlockCount, kept, blocks_max * kBlockBytes, source.Reader());
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

std::vector<std::byte> Copied(const IndexBlocks& blocks, uint64_t offset, size_t bytes) {
  std::vector<std::byte> out(bytes);
  EXPECT_TRUE(blocks.Copy(offset, out).ok());
  return out;
}

TEST(IndexBlocks, ACopyAcrossBlocksHasTheBytesOfEach) {
  for (const uint64_t blocks_max : {uint64_t{1}, kBlockCount}) {
    Source source;
    const std::unique_ptr<IndexBlocks> blocks = Make(source, {}, blocks_max);
    const std::vector<std::byte> copied = Copied(*blocks, 3 * kBlockBytes - 2, kBlockBytes + 4);
    EXPECT_EQ(copied[1], ByteOf(2));
    EXPECT_EQ(copied[2], ByteOf(3));
    EXPECT_EQ(copied[kBlockBytes + 1], ByteOf(3));
    EXPECT_EQ(copied[kBlockBytes + 2], ByteOf(4));
  }
}

TEST(IndexBlocks, WhatIsHeldIsReadOnceAndDoesNotChangeWithTheFile) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {.begin = 0, .end = 2}, kBlockCount);
  const std::byte* at = nullptr;
  ASSERT_TRUE(blocks->View(kBlockBytes - 4, 8, &at).ok());
  Copied(*blocks, 5 * kBlockBytes, 8);
  source.offset = 100;
  source.fails = true;
  EXPECT_THAT(Copied(*blocks, 5 * kBlockBytes, 8), Each(ByteOf(5)));
  EXPECT_EQ(at[3], ByteOf(0));
  EXPECT_EQ(at[4], ByteOf(1));
  EXPECT_EQ(source.reads[5], 1U);
  std::byte out{};
  EXPECT_EQ(blocks->Copy(6 * kBlockBytes, {&out, 1}).code(), Code::kIo);
  EXPECT_EQ(blocks->View(0, 1, &at).code(), Code::kOk);
  EXPECT_EQ(blocks->held_bytes(), 3 * kBlockBytes);
}

TEST(IndexBlocks, AFailedReadIsTriedAgain) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {}, kBlockCount);
  source.fails = true;
  std::byte out{};
  EXPECT_EQ(blocks->Copy(0, {&out, 1}).code(), Code::kIo);
  source.fails = false;
  EXPECT_THAT(Copied(*blocks, 0, 4), Each(ByteOf(0)));
}

TEST(IndexBlocks, HoldsNoMoreThanItMay) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {}, 8);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t block = 0; block < kBlockCount; ++block) {
      EXPECT_THAT(Copied(*blocks, block * kBlockBytes, 4), Each(ByteOf(block)));
      EXPECT_LE(blocks->held_bytes(), 8 * kBlockBytes);
    }
  }
}

TEST(IndexBlocks, ABlockThatIsUsedStaysWhereOthersPassThrough) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {}, 8);
  for (uint64_t block = 1; block < kBlockCount; ++block) {
    Copied(*blocks, 0, 1);
    Copied(*blocks, block * kBlockBytes, 1);
  }
  EXPECT_EQ(source.reads[0], 1U);
}

TEST(IndexBlocks, NamesStayAndLeaveTheOthersAQuarter) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {.begin = 0, .end = 20}, 8);
  const std::byte* at = nullptr;
  ASSERT_TRUE(blocks->View(0, 20 * kBlockBytes, &at).ok());
  for (uint64_t block = 20; block < kBlockCount; ++block) {
    Copied(*blocks, block * kBlockBytes, 1);
    EXPECT_LE(blocks->held_bytes(), (20 + 2) * kBlockBytes);
  }
  for (uint64_t block = 0; block < 20; ++block) {
    EXPECT_EQ(at[block * kBlockBytes], ByteOf(block));
    EXPECT_EQ(source.reads[block], 1U);
  }
}

TEST(IndexBlocks, ThreadsGetRightBytesWhileBlocksLeave) {
  Source source;
  const std::unique_ptr<IndexBlocks> blocks = Make(source, {.begin = 0, .end = 3}, 6);
  std::atomic<unsigned> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 5000; ++i) {
        const uint64_t block = random() % kBlockCount;
        std::array<std::byte, 16> out{};
        if (!blocks->Copy(block * kBlockBytes + random() % (kBlockBytes - out.size()), out).ok()) ++wrong;
        for (const std::byte byte : out) wrong += byte == ByteOf(block) ? 0 : 1;
        const std::byte* at = nullptr;
        if (!blocks->View(block % 3 * kBlockBytes, 1, &at).ok() || *at != ByteOf(block % 3)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  // Each thread may be about to put one block more than there is room for.
  EXPECT_LE(blocks->held_bytes(), (6 + 4) * kBlockBytes);
}

}  // namespace
}  // namespace augur
