// SPDX-License-Identifier: Apache-2.0
#include "cache/record_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace augur {
namespace {

constexpr size_t kGranule = BufferPool::kGranuleBytes;

BlockKey Key(uint64_t i) { return {.offset = i * 512, .size = 1000, .block = i % 3}; }

// A cache whose loads are ended by the test, one by one, and whose results are kept.
class RecordCacheTest : public testing::Test {
 protected:
  struct Pending {
    uint64_t key;
    Buffer buffer;
    RecordCache::Loaded loaded;
  };
  struct Outcome {
    uint64_t key;
    Status status;
    BlockRef block;
  };

  void Get(uint64_t key, size_t granules = 1) {
    cache_.Get(
        Key(key), granules * kGranule,
        [this, key](Buffer buffer, RecordCache::Loaded loaded) {
          pending_.push_back({key, std::move(buffer), std::move(loaded)});
        },
        [this, key](Result<BlockRef> result) {
          outcomes_.push_back({key, result.status(), result.ok() ? *result : nullptr});
        });
  }

  // Ends the oldest load under way; the block's bytes are its key.
  void Succeed() {
    Pending load = std::move(pending_.front());
    pending_.erase(pending_.begin());
    std::memcpy(load.buffer.data() + 5, &load.key, sizeof(load.key));
    load.loaded(CachedBlock(std::move(load.buffer), 5, sizeof(load.key)));
  }
  void Fail() {
    Pending load = std::move(pending_.front());
    pending_.erase(pending_.begin());
    load.loaded(Status(Code::kIo, "no such luck"));
    // `load.buffer` is freed only now, after the cache was told.
  }
  void GetWhole(uint64_t key, size_t granules = 1) {
    Get(key, granules);
    if (!pending_.empty()) Succeed();
  }

  std::vector<uint64_t> PendingKeys() const {
    std::vector<uint64_t> keys;
    keys.reserve(pending_.size());
    for (const Pending& load : pending_) keys.push_back(load.key);
    return keys;
  }

  static uint64_t Content(const BlockRef& block) {
    uint64_t value = 0;
    EXPECT_EQ(block->span().size(), sizeof(value));
    std::memcpy(&value, block->span().data(), sizeof(value));
    return value;
  }

  BufferPool pool_{4 * kGranule};
  RecordCache cache_{pool_};
  std::vector<Pending> pending_;
  std::vector<Outcome> outcomes_;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(RecordCacheTest, LoadsOnceAndThenHits) {
  Get(1);
  EXPECT_THAT(PendingKeys(), ElementsAre(1));
  EXPECT_THAT(outcomes_, IsEmpty());
  EXPECT_EQ(cache_.busy_blocks(), 1u);
  Succeed();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(Content(outcomes_[0].block), 1u);
  Get(1);  // in use
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_EQ(outcomes_[1].block, outcomes_[0].block);
  outcomes_.clear();
  EXPECT_EQ(cache_.busy_blocks(), 0u);
  EXPECT_EQ(cache_.idle_blocks(), 1u);
  Get(1);  // idle
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(Content(outcomes_[0].block), 1u);
  EXPECT_EQ(cache_.idle_blocks(), 0u);
  EXPECT_THAT(pending_, IsEmpty());
  EXPECT_EQ(cache_.counters().hits, 2u);
  EXPECT_EQ(cache_.counters().misses, 1u);
}

TEST_F(RecordCacheTest, KeysDifferInEachPart) {
  const BlockKey key = {.shard = 1, .offset = 2, .size = 3, .first_block = 4, .hash = {5, 6}, .block = 7};
  std::vector<BlockKey> keys(8, key);
  keys[1].shard = 9;
  keys[2].offset = 9;
  keys[3].size = 9;
  keys[4].first_block = 9;
  keys[5].hash.low = 9;
  keys[6].hash.high = 9;
  keys[7].block = 9;
  int loads = 0;
  for (const BlockKey& one : keys) {
    cache_.Get(
        one, 1,
        [&](Buffer buffer, const RecordCache::Loaded& loaded) {
          ++loads;
          loaded(CachedBlock(std::move(buffer), 0, 1));
        },
        [](const Result<BlockRef>& result) { EXPECT_TRUE(result.ok()); });
  }
  EXPECT_EQ(loads, 8);
}

TEST_F(RecordCacheTest, WhoAsksMeanwhileJoins) {
  Get(1);
  Get(1);
  Get(1);
  EXPECT_THAT(PendingKeys(), ElementsAre(1));
  Succeed();
  ASSERT_EQ(outcomes_.size(), 3u);
  for (const Outcome& outcome : outcomes_) EXPECT_EQ(Content(outcome.block), 1u);
  EXPECT_EQ(cache_.counters().hits, 2u);
}

TEST_F(RecordCacheTest, AFailureIsToldToAllAndNotKept) {
  Get(1);
  Get(1);
  Fail();
  ASSERT_EQ(outcomes_.size(), 2u);
  for (const Outcome& outcome : outcomes_) {
    EXPECT_EQ(outcome.status.code(), Code::kIo);
    EXPECT_EQ(outcome.status.text(), "no such luck");
  }
  EXPECT_EQ(cache_.busy_blocks() + cache_.idle_blocks(), 0u);
  EXPECT_EQ(pool_.used_bytes(), 0u);
  GetWhole(1);
  ASSERT_EQ(outcomes_.size(), 3u);
  EXPECT_EQ(Content(outcomes_[2].block), 1u);
  EXPECT_EQ(cache_.counters().failures, 1u);
  EXPECT_EQ(cache_.counters().misses, 2u);
}

TEST_F(RecordCacheTest, TheLeastRecentlyUsedGoes) {
  for (const uint64_t key : {1, 2, 3, 4, 1, 2}) {
    GetWhole(key);
    outcomes_.clear();
  }
  EXPECT_EQ(cache_.counters().evicted, 0u);
  GetWhole(5);  // 3 goes
  outcomes_.clear();
  EXPECT_EQ(cache_.counters().evicted, 1u);
  for (const uint64_t key : {1, 2, 4, 5}) Get(key);
  EXPECT_THAT(pending_, IsEmpty());
  EXPECT_EQ(outcomes_.size(), 4u);
  outcomes_.clear();
  Get(3);
  EXPECT_THAT(PendingKeys(), ElementsAre(3));
  Succeed();
}

// Beyond what may lie idle, the least recently used goes at once, and its memory back to the pool.
TEST(RecordCache, KeepsNoMoreThanItMay) {
  BufferPool pool(8 * kGranule);
  RecordCache cache(pool, 3 * kGranule);
  std::vector<BlockRef> held;
  const auto get = [&](uint64_t number, size_t granules) {
    const BlockKey key{.offset = number, .size = 8};
    cache.Get(
        key, granules * kGranule,
        [](Buffer buffer, const RecordCache::Loaded& loaded) { loaded(CachedBlock(std::move(buffer), 0, 8)); },
        [&](Result<BlockRef> block) {
          ASSERT_TRUE(block.ok());
          held.push_back(*block);
        });
  };
  for (const uint64_t number : {1, 2, 3, 4}) get(number, 2);
  EXPECT_EQ(pool.used_bytes(), 8 * kGranule);  // in use, so all of them stay
  held.clear();
  EXPECT_EQ(cache.idle_blocks(), 1u);
  EXPECT_EQ(pool.used_bytes(), 2 * kGranule);
  get(5, 1);
  held.clear();
  EXPECT_EQ(cache.idle_blocks(), 2u);
  get(4, 2);  // still there
  EXPECT_EQ(cache.counters().hits, 1u);
  held.clear();
  get(6, 1);
  held.clear();
  get(5, 1);  // was the oldest
  EXPECT_EQ(cache.counters().hits, 1u);
  EXPECT_EQ(cache.counters().evicted, 4u);
}

TEST_F(RecordCacheTest, BlocksInUseStayAndLoadsWaitInOrder) {
  for (const uint64_t key : {1, 2, 3, 4}) GetWhole(key);
  for (const uint64_t key : {5, 6, 7}) Get(key);
  Get(6);  // joins one that waits
  EXPECT_THAT(pending_, IsEmpty());
  EXPECT_EQ(cache_.counters().waits, 3u);
  EXPECT_EQ(cache_.counters().evicted, 0u);
  outcomes_.erase(outcomes_.begin() + 2);  // 3 is let go
  EXPECT_THAT(PendingKeys(), ElementsAre(5));
  outcomes_.erase(outcomes_.begin());
  EXPECT_THAT(PendingKeys(), ElementsAre(5, 6));
  for (const Outcome& outcome : outcomes_) EXPECT_EQ(Content(outcome.block), outcome.key);
  // A failed load makes room for the next in the queue, though its buffer is freed late.
  Fail();
  EXPECT_THAT(PendingKeys(), ElementsAre(6, 7));
  Succeed();
  Succeed();
  ASSERT_EQ(outcomes_.size(), 6u);  // 2, 4, 5 (failed), 6, 6, 7
  EXPECT_EQ(outcomes_[2].status.code(), Code::kIo);
  EXPECT_EQ(Content(outcomes_[3].block), 6u);
  EXPECT_EQ(Content(outcomes_[4].block), 6u);
  EXPECT_EQ(Content(outcomes_[5].block), 7u);
}

TEST_F(RecordCacheTest, NobodyPassesByTheFirstInTheQueue) {
  for (const uint64_t key : {1, 2, 3, 4}) GetWhole(key);
  Get(5, 3);
  Get(6, 1);
  for (int let_go = 1; let_go <= 2; ++let_go) {
    outcomes_.erase(outcomes_.begin());
    EXPECT_THAT(pending_, IsEmpty()) << let_go;  // there would be room for 6
  }
  outcomes_.erase(outcomes_.begin());
  EXPECT_THAT(PendingKeys(), ElementsAre(5));
  outcomes_.clear();
  EXPECT_THAT(PendingKeys(), ElementsAre(5, 6));
  Succeed();
  Succeed();
  EXPECT_LE(pool_.touched_bytes(), pool_.bytes_max());
}

TEST_F(RecordCacheTest, WhatNeverFitsIsRefused) {
  Get(1, 5);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].status.code(), Code::kNoSpace);
  EXPECT_THAT(outcomes_[0].status.text(), testing::HasSubstr("256.0 KiB"));
  EXPECT_EQ(cache_.busy_blocks(), 0u);
  GetWhole(1, 4);  // the same key with less
  EXPECT_TRUE(outcomes_[1].status.ok());
}

TEST(RecordCache, MemoryThatTheSystemDoesNotGiveIsRefused) {
  BufferPool pool(uint64_t{1} << 60);
  RecordCache cache(pool);
  Status status;
  cache.Get(
      Key(1), size_t{1} << 59, [](Buffer, const RecordCache::Loaded&) { FAIL(); },
      [&](const Result<BlockRef>& result) { status = result.status(); });
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_EQ(cache.busy_blocks(), 0u);
}

TEST_F(RecordCacheTest, MemoryThatOthersGiveBackIsUsed) {
  Buffer other = pool_.Allocate(4 * kGranule);
  Get(1);
  EXPECT_THAT(pending_, IsEmpty());
  other = {};
  EXPECT_THAT(PendingKeys(), ElementsAre(1));
  Succeed();
}

// Callbacks hold no lock: each may call the cache.
TEST_F(RecordCacheTest, CallbacksMayCallBack) {
  int gets = 0;
  std::function<void(Result<BlockRef>)> done = [&](const Result<BlockRef>& result) {
    ASSERT_TRUE(result.ok());
    EXPECT_GE(cache_.counters().misses, 1u);
    if (++gets < 100) {
      cache_.Get(
          Key(static_cast<uint64_t>(gets / 2)), kGranule,
          [&](Buffer buffer, const RecordCache::Loaded& loaded) {
            EXPECT_EQ(cache_.busy_blocks() > 0, true);
            loaded(CachedBlock(std::move(buffer), 0, 1));
          },
          done);
    }
  };
  GetWhole(0);
  done(outcomes_[0].block);
  EXPECT_EQ(gets, 100);
}

// Loads that end within `load`, each letting the next one start: no stack grows with them.
TEST(RecordCache, ALongChainOfLoadsThatEndAtOnce) {
  BufferPool pool(kGranule);
  RecordCache cache(pool);
  Buffer all = pool.Allocate(kGranule);  // so that every load waits
  uint64_t loads = 0;
  uint64_t done = 0;
  constexpr uint64_t kLoads = 200000;
  for (uint64_t i = 0; i < kLoads; ++i) {
    cache.Get(
        {.offset = i, .size = 1}, 1,
        [&](Buffer buffer, const RecordCache::Loaded& loaded) {
          if (++loads % 2 == 0) {
            loaded(Status(Code::kIo, "odd luck"));
          } else {
            loaded(CachedBlock(std::move(buffer), 0, 1));
          }
        },
        [&](const Result<BlockRef>&) { ++done; });
  }
  EXPECT_EQ(loads, 0u);
  all = {};
  EXPECT_EQ(loads, kLoads);
  EXPECT_EQ(done, kLoads);
  EXPECT_EQ(cache.counters().waits, kLoads);
  EXPECT_EQ(cache.busy_blocks(), 0u);
}

TEST(RecordCacheDeathTest, ALoadThatEndsTwiceIsABug) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  BufferPool pool(kGranule);
  RecordCache cache(pool);
  EXPECT_DEATH(cache.Get(
                   Key(1), 1,
                   [](Buffer, const RecordCache::Loaded& loaded) {
                     loaded(Status(Code::kIo, "once"));
                     loaded(Status(Code::kIo, "twice"));
                   },
                   [](const Result<BlockRef>&) {}),
               "check failed");
}

}  // namespace
}  // namespace augur
