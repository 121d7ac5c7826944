// SPDX-License-Identifier: Apache-2.0
#include "fs/rendered_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace augur {
namespace {

constexpr size_t kBytes = 1 << 20;

RenderedKey KeyOf(uint64_t number) {
  return {.record = {.offset = number * 512, .size = kBytes}, .shown = {.low = 1, .high = 0}, .image = {}};
}

RenderedRef MakeFile() {
  auto file = std::make_shared<RenderedFile>();
  file->data = RecycledMemory::Take<std::byte>(kBytes);
  file->bytes = kBytes;
  return file;
}

class RenderedCacheTest : public testing::Test {
 protected:
  // As if it were made now, and so much of it were read.
  void Make(uint64_t number, uint64_t read_bytes) {
    cache_.Add(KeyOf(number), MakeFile(), read_bytes, cache_.RenderedBefore(KeyOf(number)));
  }
  bool Has(uint64_t number) { return cache_.Find(KeyOf(number), 0).file != nullptr; }

  RenderedCache cache_{1000};
};

TEST_F(RenderedCacheTest, OfFilesReadToTheirEndTheLastFewAreHeld) {
  constexpr uint64_t kFiles = 100;
  for (uint64_t file = 0; file < kFiles; ++file) {
    Make(file, kBytes / 2);
    ASSERT_TRUE(Has(file));
    EXPECT_NE(cache_.Find(KeyOf(file), kBytes / 2).file, nullptr);
  }
  EXPECT_LE(cache_.bytes(), RenderedCache::kPassedBytesMax);
  EXPECT_GT(cache_.bytes(), RenderedCache::kPassedBytesMax / 2);
  EXPECT_TRUE(Has(kFiles - 1));
  EXPECT_FALSE(Has(0));
}

TEST_F(RenderedCacheTest, WhatIsNotReadToItsEndStays) {
  for (uint64_t file = 0; file < 100; ++file) Make(file, kBytes - 1);
  for (uint64_t file = 0; file < 100; ++file) EXPECT_TRUE(Has(file)) << file;
}

TEST_F(RenderedCacheTest, WhatIsMadeAgainStays) {
  for (uint64_t file = 0; file < 100; ++file) Make(file, kBytes);
  for (uint64_t file = 0; file < 50; ++file) Make(file, kBytes);
  for (uint64_t file = 0; file < 50; ++file) EXPECT_TRUE(Has(file)) << file;
}

TEST_F(RenderedCacheTest, WhatHasPassedGoesFirstThenWhatWasNotUsedForLong) {
  Make(1, 0);
  Make(2, 0);
  Make(3, kBytes);
  EXPECT_NE(cache_.Find(KeyOf(1), 1).file, nullptr);  // which uses it
  cache_.DropOne();
  EXPECT_FALSE(Has(3));
  cache_.DropOne();
  EXPECT_FALSE(Has(2));
  EXPECT_TRUE(Has(1));
  cache_.DropOne();
  EXPECT_TRUE(cache_.empty());
  EXPECT_EQ(cache_.bytes(), 0u);
}

// The page cache has lost it; that is told once.
TEST_F(RenderedCacheTest, WhatIsReadAgainAfterItsEndStays) {
  Make(0, kBytes);
  EXPECT_TRUE(cache_.Find(KeyOf(0), kBytes / 2).again);
  EXPECT_FALSE(cache_.Find(KeyOf(0), kBytes / 2).again);
  for (uint64_t file = 1; file < 100; ++file) Make(file, kBytes);
  EXPECT_TRUE(Has(0));
}

// Who has it still reads it.
TEST_F(RenderedCacheTest, WhatIsLetGoLivesAsLongAsItIsUsed) {
  Make(1, 0);
  const RenderedRef used = cache_.Find(KeyOf(1), kBytes).file;
  cache_.DropOne();
  EXPECT_EQ(used.use_count(), 1);
  EXPECT_EQ(used->bytes, kBytes);
}

}  // namespace
}  // namespace augur
