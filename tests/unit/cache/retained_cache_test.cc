// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Place = RetainedCache::Place;
using Inserted = RetainedCache::Inserted;

class RetainedCacheTest : public testing::TestWithParam<Place> {
 protected:
  std::unique_ptr<RetainedCache> Open(uint64_t bytes_max) {
    RetainedCache::Options options = folder_.options(bytes_max);
    options.place = GetParam();
    std::vector<std::string> notes;
    auto retained_cache = RetainedCache::Open(options, notes);
    EXPECT_TRUE(retained_cache.ok()) << retained_cache.status().text();
    EXPECT_TRUE(notes.empty()) << notes[0];
    EXPECT_EQ((*retained_cache)->place(), GetParam());
    return *std::move(retained_cache);
  }
  static bool shared() { return GetParam() == Place::kShm; }
  RetainedCacheFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Places, RetainedCacheTest, testing::Values(Place::kRam, Place::kShm),
                         [](const auto& place) { return place.param == Place::kRam ? "Ram" : "Shm"; });

TEST_P(RetainedCacheTest, FindsWhatWasInsertedAndNothingElse) {
  const auto retained_cache = Open(16 * kMiB);
  EXPECT_EQ(FindRight(*retained_cache, 1), 0);
  EXPECT_FALSE(retained_cache->Contains(TestKey(1)));
  EXPECT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kPresent);
  EXPECT_TRUE(retained_cache->Contains(TestKey(1)));
  EXPECT_EQ(FindRight(*retained_cache, 1), 1);
  RetainedCacheKey other = TestKey(1);
  ++other.identity.high;
  EXPECT_FALSE(retained_cache->Find(other, [](auto) { return true; }));
  other = TestKey(1);
  ++other.bytes;
  EXPECT_FALSE(retained_cache->Contains(other));
  EXPECT_EQ(retained_cache->block_count(), 1U);
  EXPECT_EQ(retained_cache->used_bytes(), RetainedCache::RoomFor(TestBlockBytes(1)));
  EXPECT_TRUE(retained_cache->Erase(TestKey(1)));
  EXPECT_FALSE(retained_cache->Erase(TestKey(1)));
  EXPECT_EQ(FindRight(*retained_cache, 1), 0);
  EXPECT_EQ(retained_cache->used_bytes(), 0U);
  EXPECT_EQ(retained_cache->attached(), 1U);
}

TEST_P(RetainedCacheTest, NoBytesAreRefused) { EXPECT_EQ(Open(16 * kMiB)->Insert(TestKey(1), {}), Inserted::kNoRoom); }

// Nobody else can have changed memory of this process; shared memory, anybody who may write to it.
TEST_P(RetainedCacheTest, BytesOfThisProcessAreNotCheckedAgainWhereTheyAreItsOwn) {
  const auto retained_cache = Open(16 * kMiB);
  ASSERT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_EQ(retained_cache->Find(TestKey(1), [](auto) { return false; }).has_value(), !shared());
}

TEST_P(RetainedCacheTest, APinKeepsItsBytesAndMayOutliveTheRetainedCache) {
  auto retained_cache = Open(16 * kMiB);
  ASSERT_EQ(retained_cache->Insert(TestKey(16), TestBlock(16)), Inserted::kYes);
  ASSERT_EQ(retained_cache->Insert(TestKey(2), TestBlock(2)), Inserted::kYes);
  auto pin = retained_cache->Find(TestKey(16), [](auto) { return true; });
  auto again = retained_cache->Find(TestKey(16), [](auto) { return true; });
  ASSERT_TRUE(pin);
  if (!again) FAIL();
  EXPECT_EQ(retained_cache->Erase(TestKey(16)), shared()) << "a copy does not need the block";
  EXPECT_EQ(retained_cache->Clear(), TestBlockBytes(2));
  pin.reset();
  EXPECT_FALSE(retained_cache->Erase(TestKey(16)));
  retained_cache.reset();
  EXPECT_TRUE(HasBytesOf(16, again->pieces()));
}

TEST_P(RetainedCacheTest, APinCanBeMoved) {
  const auto retained_cache = Open(16 * kMiB);
  ASSERT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  ASSERT_EQ(retained_cache->Insert(TestKey(2), TestBlock(2)), Inserted::kYes);
  auto one = retained_cache->Find(TestKey(1), [](auto) { return true; });
  if (!one) FAIL();
  {
    auto two = retained_cache->Find(TestKey(2), [](auto) { return true; });
    if (!two) FAIL();
    *one = std::move(*two);
  }
  EXPECT_TRUE(retained_cache->Erase(TestKey(1)));
  EXPECT_EQ(retained_cache->Erase(TestKey(2)), shared());
  EXPECT_TRUE(HasBytesOf(2, one->pieces()));
  one.reset();
  EXPECT_EQ(retained_cache->Erase(TestKey(2)), !shared());
}

TEST_P(RetainedCacheTest, ItTakesWhatItPromisesThenNoMoreAndNeverEvicts) {
  const auto retained_cache = Open(24 * kMiB);
  std::vector<uint64_t> kept;
  uint64_t id = 0;
  for (; retained_cache->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes; ++id) kept.push_back(id);
  EXPECT_LE(retained_cache->used_bytes(), retained_cache->bytes_max());
  EXPECT_GT(retained_cache->used_bytes() + RetainedCache::RoomFor(TestBlockBytes(id)), retained_cache->bytes_max());
  // Tables are a page for each 2 MiB, 64 bytes a block and some pages: 3 % even of so small a one.
  EXPECT_GT(retained_cache->bytes_max(), 24 * kMiB * 85 / 100);
  EXPECT_LE(retained_cache->held_bytes(), 24 * kMiB);
  for (const uint64_t there : kept) EXPECT_EQ(FindRight(*retained_cache, there), 1);
  ASSERT_TRUE(retained_cache->Erase(TestKey(0)));
  EXPECT_EQ(retained_cache->Insert(TestKey(0), TestBlock(0)), Inserted::kYes);
}

TEST_P(RetainedCacheTest, AFullOneCanBeFilledToTheLastPageAgainInAnyPieces) {
  const auto retained_cache = Open(12 * kMiB);
  std::mt19937_64 random(7);
  uint64_t id = 0;
  while (retained_cache->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes) ++id;
  for (int round = 0; round < 50; ++round) {
    for (const RetainedCacheKey& kept : retained_cache->List()) {
      if (random() % 2 == 0) retained_cache->Erase(kept);
    }
    while (retained_cache->used_bytes() + RetainedCache::RoomFor(TestBlockBytes(id)) <= retained_cache->bytes_max()) {
      ASSERT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), Inserted::kYes);
      ASSERT_EQ(FindRight(*retained_cache, id), 1);
      ++id;
    }
    ++id;
  }
}

TEST_P(RetainedCacheTest, ABlockLargerThanASlabIsInPieces) {
  const auto retained_cache = Open(32 * kMiB);
  std::vector<std::byte> bytes(7'000'001);
  for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at * 31 >> 7);
  ASSERT_EQ(retained_cache->Insert(KeyFor(1, bytes), bytes), Inserted::kYes);
  const auto pin = retained_cache->Find(KeyFor(1, bytes), [](auto) { return true; });
  if (!pin) FAIL();
  std::vector<std::byte> found;
  for (const auto piece : pin->pieces()) found.insert(found.end(), piece.begin(), piece.end());
  EXPECT_TRUE(found == bytes);
  EXPECT_LE(pin->pieces().size(), 4U);
  const std::vector<std::byte> larger(40 * kMiB);
  EXPECT_EQ(retained_cache->Insert(KeyFor(2, larger), larger), Inserted::kNoRoom);
}

TEST_P(RetainedCacheTest, WhatIsNotKnownGoesUntilThereIsRoom) {
  const auto retained_cache = Open(16 * kMiB);
  for (uint64_t id = 0; id < 300; ++id) ASSERT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), Inserted::kYes);
  const auto known = [](const RetainedCacheKey& key) { return key.identity.high % 2 == 0; };
  auto pin = retained_cache->Find(TestKey(299), [](auto) { return true; });
  if (!pin) FAIL();
  const uint64_t used = retained_cache->used_bytes();
  const uint64_t freed = retained_cache->EvictUnknown(100'000, known);
  EXPECT_EQ(retained_cache->used_bytes(), used - freed);
  EXPECT_GE(freed, 100'000U);
  EXPECT_LT(freed, 100'000 + RetainedCache::RoomFor(300'000)) << "no more than are needed";
  retained_cache->EvictUnknown(UINT64_MAX, known);
  for (uint64_t id = 0; id < 300; ++id) {
    EXPECT_EQ(FindRight(*retained_cache, id), id % 2 == 0 || (id == 299 && !shared()) ? 1 : 0) << id;
  }
  EXPECT_TRUE(HasBytesOf(299, pin->pieces()));
  EXPECT_EQ(retained_cache->EvictUnknown(UINT64_MAX, known), 0U);
}

TEST_P(RetainedCacheTest, ClearGivesTheMemoryBack) {
  const auto retained_cache = Open(24 * kMiB);
  uint64_t bytes = 0;
  for (uint64_t id = 0; retained_cache->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes; ++id)
    bytes += TestBlockBytes(id);
  EXPECT_GT(retained_cache->held_bytes(), 20 * kMiB);
  EXPECT_EQ(retained_cache->Clear(), bytes);
  EXPECT_EQ(retained_cache->held_bytes(), retained_cache->table_bytes());
  EXPECT_LT(retained_cache->held_bytes(), 2 * kMiB);
  EXPECT_EQ(retained_cache->block_count(), 0U);
  EXPECT_TRUE(RandomSteps(*retained_cache, 5, 400, 2000));
}

TEST_P(RetainedCacheTest, DoesWhatAMapDoes) {
  const auto retained_cache = Open(12 * kMiB);
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::map<uint64_t, int> model;  // id: pins
    std::vector<std::pair<uint64_t, RetainedCache::Pin>> pins;
    uint64_t used = 0;
    for (int step = 0; step < 20'000; ++step) {
      const uint64_t id = random() % 1500;
      const auto there = model.find(id);
      const uint64_t room = RetainedCache::RoomFor(TestBlockBytes(id));
      ASSERT_EQ(retained_cache->Contains(TestKey(id)), there != model.end());
      switch (random() % 8) {
        case 0:
        case 1:
        case 2: {
          const Inserted wanted = there != model.end()                        ? Inserted::kPresent
                                  : used + room > retained_cache->bytes_max() ? Inserted::kNoRoom
                                                                              : Inserted::kYes;
          ASSERT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), wanted);
          if (wanted != Inserted::kYes) break;
          model[id] = 0;
          used += room;
          break;
        }
        case 3:
        case 4: {
          const bool wanted = there != model.end() && (there->second == 0 || shared());
          ASSERT_EQ(retained_cache->Erase(TestKey(id)), wanted);
          if (!wanted) break;
          model.erase(there);
          used -= room;
          break;
        }
        case 5: {
          auto pin = retained_cache->Find(TestKey(id), [](auto) { return true; });
          ASSERT_EQ(pin.has_value(), there != model.end());
          if (!pin) break;
          ++there->second;
          pins.emplace_back(id, *std::move(pin));
          break;
        }
        case 6:
          if (pins.empty()) break;
          std::swap(pins[random() % pins.size()], pins.back());
          ASSERT_TRUE(HasBytesOf(pins.back().first, pins.back().second.pieces()));
          if (!shared()) --model[pins.back().first];
          pins.pop_back();
          break;
        default: ASSERT_EQ(FindRight(*retained_cache, id), there != model.end() ? 1 : 0);
      }
      ASSERT_EQ(retained_cache->used_bytes(), used);
      ASSERT_EQ(retained_cache->block_count(), model.size());
    }
    EXPECT_EQ(retained_cache->List().size(), model.size());
    pins.clear();
    retained_cache->Clear();
  }
}

TEST_P(RetainedCacheTest, ManyThreadsSeeRightBytesAndLeaveNothing) {
  const auto retained_cache = Open(12 * kMiB);
  std::atomic<bool> right = true;
  {
    std::vector<std::jthread> threads;
    for (uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        if (!RandomSteps(*retained_cache, thread, 300, 2000)) right = false;
        if (thread == 0) retained_cache->Clear();
      });
    }
  }
  EXPECT_TRUE(right);
  retained_cache->Clear();
  EXPECT_EQ(retained_cache->used_bytes(), 0U);
  EXPECT_EQ(retained_cache->block_count(), 0U);
  EXPECT_EQ(retained_cache->held_bytes(), retained_cache->table_bytes());
}

TEST_P(RetainedCacheTest, SmallBlocksMayBeAsManyAsThereArePages) {
  const auto retained_cache = Open(16 * kMiB);
  const std::vector<std::byte> one(1, std::byte{1});
  uint64_t count = 0;
  while (retained_cache->Insert(KeyFor(count, one), one) == Inserted::kYes) ++count;
  EXPECT_EQ(count * 4096, retained_cache->bytes_max());
  EXPECT_LE(retained_cache->held_bytes(), 16 * kMiB);
}

}  // namespace
}  // namespace augur
