// SPDX-License-Identifier: Apache-2.0
#include "cache/sealable_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cache/cached_block.h"

namespace augur {
namespace {

using Range = SealableBuffer::Range;

// Nobody gets a writable address of a block that is handed out.
static_assert(std::is_same_v<decltype(std::declval<CachedBlock&>().span()), std::span<const std::byte>>);
static_assert(std::is_same_v<decltype(std::declval<const Buffer&>().data()), const std::byte*>);
static_assert(!std::is_copy_constructible_v<SealableBuffer::Writing>);
static_assert(!std::is_move_constructible_v<SealableBuffer>);

class SealableBufferTest : public testing::Test {
 protected:
  BufferPool pool_{1 << 20};
  SealableBuffer buffer_{pool_.Allocate(BufferPool::kGranuleBytes)};
};
using SealableBufferDeathTest = SealableBufferTest;

TEST_F(SealableBufferTest, WhatWasWrittenIsWhatIsSealed) {
  std::memcpy(buffer_.Write(100, 5).data(), "hello", 5);
  const std::span<const std::byte> sealed = buffer_.Seal(100, 5);
  EXPECT_EQ(std::memcmp(sealed.data(), "hello", 5), 0);
  EXPECT_EQ(buffer_.Sealed(101, 3).data(), sealed.data() + 1);
}

TEST_F(SealableBufferDeathTest, ASealedByteCannotBeWritten) {
  buffer_.Seal(100, 50);
  EXPECT_DEATH((void)buffer_.Write(0, 101), "");
  EXPECT_DEATH((void)buffer_.Write(120, 1), "");
  EXPECT_DEATH((void)buffer_.Write(149, 10), "");
  (void)buffer_.Write(0, 100);
  (void)buffer_.Write(150, 10);
}

TEST_F(SealableBufferDeathTest, AByteThatIsBeingWrittenCannotBeSealed) {
  std::optional<SealableBuffer::Writing> writing(buffer_.Write(100, 50));
  EXPECT_DEATH(buffer_.Seal(0, 101), "");
  EXPECT_DEATH(buffer_.Seal(149, 1), "");
  buffer_.Seal(0, 100);
  // Nor by two at once.
  EXPECT_DEATH((void)buffer_.Write(149, 2), "");
  writing.reset();
  buffer_.Seal(100, 50);
}

TEST_F(SealableBufferDeathTest, WhatIsNotSealedIsNotHandedOut) {
  buffer_.Seal(100, 50);
  buffer_.Seal(160, 40);
  EXPECT_DEATH((void)buffer_.Sealed(100, 51), "");
  EXPECT_DEATH((void)buffer_.Sealed(140, 30), "");
  EXPECT_DEATH(CachedBlock(std::shared_ptr<const SealableBuffer>(&buffer_, [](const SealableBuffer*) {}), 99, 2), "");
}

// Against a model of one flag a byte.
TEST_F(SealableBufferTest, KnowsWhichBytesAreSealed) {
  constexpr size_t kBytes = 300;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    SealableBuffer buffer(pool_.Allocate(BufferPool::kGranuleBytes));
    std::vector<bool> model(kBytes);
    const auto any_range = [&] {
      const size_t begin = random() % kBytes;
      return Range{.begin = begin, .end = begin + random() % (std::min<size_t>(kBytes - begin, 40) + 1)};
    };
    for (int i = 0; i < 60; ++i) {
      const Range range = any_range();
      if (range.begin == range.end) continue;
      buffer.Seal(range.begin, range.end - range.begin);
      std::fill(model.begin() + static_cast<std::ptrdiff_t>(range.begin),
                model.begin() + static_cast<std::ptrdiff_t>(range.end), true);
      const Range asked = any_range();
      std::vector<bool> open(kBytes);
      size_t before = 0;
      for (const Range& part : buffer.Unsealed(asked.begin, asked.end - asked.begin)) {
        ASSERT_TRUE(part.begin < part.end && (before == 0 || before < part.begin));
        before = part.end;
        for (size_t at = part.begin; at < part.end; ++at) open[at] = true;
      }
      for (size_t at = 0; at < kBytes; ++at) {
        ASSERT_EQ(open[at], at >= asked.begin && at < asked.end && !model[at]) << at;
      }
    }
  }
}

}  // namespace
}  // namespace augur
