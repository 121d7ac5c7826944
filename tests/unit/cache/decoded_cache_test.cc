// SPDX-License-Identifier: Apache-2.0
// What a decoded cache promises while nothing goes wrong.
#include "cache/decoded_cache.h"

#include <unistd.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "augur/store.h"
#include "base/units.h"
#include "io/read_engine.h"
#include "unit/cache/decoded_support.h"

namespace augur {
namespace {

using Inserted = DecodedCache::Inserted;

static_assert(kDecodedBlockBytes == kBlockBytes, "whoever reads blocks of records reads blocks of these too");
static_assert(kDecodedPageBytes == kAlignMax);

class DecodedCacheTest : public testing::Test {
 protected:
  DecodedTestFolder folder_;
};

// Around a page, a block, and the number of sums in one log entry, in two, and in three.
constexpr uint64_t kSizes[] = {1,        100,          4095,     4096,         4097,
                               kMiB - 1, kMiB,         kMiB + 1, 2 * kMiB + 7, 3 * kMiB - 1,
                               3 * kMiB, 3 * kMiB + 1, 8 * kMiB, 8 * kMiB + 1, 13 * kMiB};

TEST_F(DecodedCacheTest, FindsWhatWasInsertedOfEverySize) {
  auto options = folder_.options(256 * kMiB);
  for (const bool direct : {true, false}) {
    options.direct = direct;
    const auto cache = DecodedTestFolder::Open(options);
    const uint64_t id_base = direct ? 0 : 100;
    for (const uint64_t bytes : kSizes) {
      SCOPED_TRACE(bytes);
      EXPECT_EQ(FindDecoded(*cache, id_base, bytes), Found::kAbsent);
      EXPECT_EQ(InsertDecoded(*cache, id_base, bytes), Inserted::kYes);
      EXPECT_EQ(FindDecoded(*cache, id_base, bytes), Found::kRight);
    }
    const auto place = PlaceOf(*cache, id_base, 3 * kMiB + 1);
    EXPECT_EQ(place.block_count(), 4U);
    EXPECT_EQ(place.offset % kDecodedPageBytes, 0U);
    EXPECT_EQ(place.BlockOffset(3), place.offset + 3 * kMiB);
    EXPECT_EQ(place.BlockBytes(0), kMiB);
    EXPECT_EQ(place.BlockBytes(3), 1U);
    EXPECT_TRUE(direct || !place.file->direct);
  }
}

// Promise: later runs decode nothing.
TEST_F(DecodedCacheTest, ALaterRunFindsAllOfIt) {
  constexpr uint64_t kFiles = 100;
  {
    const auto cache = folder_.Open();
    for (uint64_t id = 0; id < kFiles; ++id) ASSERT_EQ(InsertDecoded(*cache, id), Inserted::kYes);
  }
  const auto cache = folder_.Open();
  EXPECT_EQ(cache->counters().files, kFiles);
  for (uint64_t id = 0; id < kFiles; ++id) EXPECT_EQ(FindDecoded(*cache, id), Found::kRight) << id;
  EXPECT_EQ(FindDecoded(*cache, kFiles), Found::kAbsent);
  EXPECT_EQ(cache->counters().found, kFiles);
  EXPECT_EQ(cache->counters().missed, 1U);
  EXPECT_EQ(cache->counters().bad_entries, 0U);
}

TEST_F(DecodedCacheTest, TheSizeIsPartOfTheKey) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertDecoded(*cache, 1, 1000), Inserted::kYes);
  DecodedKey key = DecodedTestKey(1, 1000);
  EXPECT_TRUE(cache->Contains(key));
  key.size = 1001;
  EXPECT_FALSE(cache->Contains(key));
  EXPECT_FALSE(cache->Find(key));
}

TEST_F(DecodedCacheTest, WhatIsPresentIsNotWrittenAgain) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertDecoded(*cache, 1), Inserted::kYes);
  EXPECT_EQ(InsertDecoded(*cache, 1), Inserted::kPresent);
  EXPECT_EQ(cache->counters().inserted, 1U);
  EXPECT_EQ(cache->counters().inserted_bytes, DecodedTestBytes(1));
}

TEST_F(DecodedCacheTest, NoRoomForNothingAndForMoreThanTheBound) {
  const auto cache = folder_.Open(folder_.options(DecodedCache::kBytesMin));
  EXPECT_EQ(cache->Insert({.hash = {.low = 1, .high = 2}, .size = 0}, {}), Inserted::kNoRoom);
  EXPECT_EQ(InsertDecoded(*cache, 1, DecodedCache::kBytesMin), Inserted::kNoRoom);
  EXPECT_EQ(InsertDecoded(*cache, 1, 1000), Inserted::kYes) << "a smaller one has room";
  EXPECT_EQ(cache->counters().no_room, 2U);
}

// Promise: several daemons share one folder; what others have finished is seen at open and by Refresh, not by Find.
TEST_F(DecodedCacheTest, AnotherDaemonSeesItAfterALook) {
  const auto one = folder_.Open();
  const auto two = folder_.Open();
  for (uint64_t id = 0; id < 40; ++id) {
    ASSERT_EQ(InsertDecoded(*one, id), Inserted::kYes);
    ASSERT_EQ(FindDecoded(*two, id), Found::kAbsent);
    RefreshDecoded(*two);
    ASSERT_EQ(FindDecoded(*two, id), Found::kRight) << id;
    ASSERT_EQ(InsertDecoded(*two, id), Inserted::kPresent);
  }
}

TEST_F(DecodedCacheTest, EachWriterHasASegmentOfItsOwn) {
  const auto one = folder_.Open();
  const auto two = folder_.Open();
  for (uint64_t id = 0; id < 60; ++id) ASSERT_EQ(InsertDecoded(id % 2 == 0 ? *one : *two, id), Inserted::kYes);
  RefreshDecoded(*one);
  RefreshDecoded(*two);
  std::set<std::string> even;
  std::set<std::string> odd;
  for (uint64_t id = 0; id < 60; ++id) {
    EXPECT_EQ(FindDecoded(*one, id), Found::kRight) << id;
    EXPECT_EQ(FindDecoded(*two, id), Found::kRight) << id;
    (id % 2 == 0 ? even : odd).insert(PlaceOf(*one, id).file->path);
  }
  for (const std::string& path : even) EXPECT_FALSE(odd.contains(path)) << path;
}

TEST_F(DecodedCacheTest, LooksAtABoundedRate) {
  TestClock clock;
  auto options = folder_.options();
  options.look_ms = 5000;
  options.now_ns = [&clock] { return clock.ns; };
  const auto cache = DecodedTestFolder::Open(options);
  std::vector<std::string> notes;
  EXPECT_FALSE(cache->Refresh(notes));
  clock.Add(4);
  EXPECT_FALSE(cache->Refresh(notes));
  clock.Add(1);
  EXPECT_TRUE(cache->Refresh(notes));
  EXPECT_FALSE(cache->Refresh(notes));
  clock.Add(-100);
  EXPECT_TRUE(cache->Refresh(notes)) << "a clock that was set back does not stop it";
}

// Many short runs do not leave many segments: the next writer goes on with what the last one has left.
TEST_F(DecodedCacheTest, ManyRunsOfOneFileMakeOneSegment) {
  constexpr uint64_t kRuns = 30;
  for (uint64_t id = 1; id <= kRuns; ++id) {
    const auto cache = folder_.Open();
    ASSERT_EQ(InsertDecoded(*cache, id, 10'000), Inserted::kYes);
  }
  EXPECT_EQ(folder_.files().size(), 1U);
  const auto cache = folder_.Open();
  for (uint64_t id = 1; id <= kRuns; ++id) EXPECT_EQ(FindDecoded(*cache, id, 10'000), Found::kRight) << id;
}

TEST_F(DecodedCacheTest, AfterARunTheSegmentIsAsShortAsItsFiles) {
  {
    const auto cache = folder_.Open();
    ASSERT_EQ(InsertDecoded(*cache, 1, 10'000), Inserted::kYes);
    EXPECT_EQ(folder_.bytes(), DecodedCache::SegmentBytes(64 * kMiB)) << "while it is written: what it may grow to";
  }
  EXPECT_LE(folder_.bytes(), 4096 + DecodedLogBytes(DecodedCache::SegmentBytes(64 * kMiB)) + uint64_t{3} * 4096);
}

TEST_F(DecodedCacheTest, ARunThatInsertsNothingLeavesNothing) {
  folder_.Open().reset();
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(DecodedCacheTest, AFileLargerThanASegmentHasOneOfItsOwn) {
  const auto cache = folder_.Open(folder_.options(64 * kMiB));  // segments of 4 MiB
  ASSERT_EQ(InsertDecoded(*cache, 1, 20 * kMiB + 3), Inserted::kYes);
  ASSERT_EQ(InsertDecoded(*cache, 2, 1000), Inserted::kYes);
  EXPECT_EQ(FindDecoded(*cache, 1, 20 * kMiB + 3), Found::kRight);
  EXPECT_EQ(FindDecoded(*cache, 2, 1000), Found::kRight);
  EXPECT_EQ(folder_.files().size(), 2U);
}

TEST_F(DecodedCacheTest, APlaceOutlivesTheCacheAndTheSegment) {
  auto cache = folder_.Open();
  ASSERT_EQ(InsertDecoded(*cache, 16), Inserted::kYes);
  const auto place = PlaceOf(*cache, 16);
  cache.reset();
  for (const std::string& file : folder_.files()) ASSERT_EQ(::unlink(file.c_str()), 0);
  EXPECT_EQ(ReadDecodedPlace(place, 16), Found::kRight);
}

TEST_F(DecodedCacheTest, AReadEngineReadsFromAPlace) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertDecoded(*cache, 5, 300'000), Inserted::kYes);
  const auto place = PlaceOf(*cache, 5, 300'000);
  const auto engine = MakeReadEngine(EngineKind::kPread, 2);
  ASSERT_TRUE(engine.ok());
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, kMiB), &std::free);
  auto* const bytes = static_cast<std::byte*>(memory.get());
  std::promise<int64_t> done;
  (*engine)->Submit({.fd = place.file->fd.get(),
                     .offset = place.BlockOffset(0),
                     .data = bytes,
                     .bytes = 303'104,  // up to a page
                     .done = [&](int64_t result) { done.set_value(result); }});
  ASSERT_GE(done.get_future().get(), 300'000);
  EXPECT_TRUE(DecodedCache::Check(place, 0, {bytes, 300'000}));
  EXPECT_FALSE(DecodedCache::Check(place, 0, {bytes, 299'999}));
  EXPECT_FALSE(DecodedCache::Check(place, 0, {bytes, 300'001}));
  EXPECT_FALSE(DecodedCache::Check(place, 0, {bytes + 1, 300'000}));
}

// Promise: what failed its check is found no more, in this run and in later ones, and can be inserted again.
TEST_F(DecodedCacheTest, WhatIsForgottenStaysSo) {
  constexpr uint64_t kFiles = 50;
  {
    const auto cache = folder_.Open();
    for (uint64_t id = 0; id < kFiles; ++id) ASSERT_EQ(InsertDecoded(*cache, id), Inserted::kYes);
    for (const uint64_t id : {0U, 16U, 17U, 49U}) {  // of many blocks and of one
      const auto place = PlaceOf(*cache, id);
      cache->Forget(place);
      cache->Forget(place);
      EXPECT_EQ(FindDecoded(*cache, id), Found::kAbsent);
    }
    EXPECT_EQ(cache->counters().forgotten, 4U);
    RefreshDecoded(*cache);
    EXPECT_EQ(FindDecoded(*cache, 17), Found::kAbsent);
    EXPECT_EQ(InsertDecoded(*cache, 17), Inserted::kYes);
  }
  const auto cache = folder_.Open();
  for (uint64_t id = 0; id < kFiles; ++id) {
    const bool gone = id == 0 || id == 16 || id == 49;
    EXPECT_EQ(FindDecoded(*cache, id), gone ? Found::kAbsent : Found::kRight) << id;
  }
  EXPECT_EQ(cache->counters().bad_entries, 0U);
}

TEST_F(DecodedCacheTest, AnOldPlaceForgetsNothingThatWasPutElsewhere) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertDecoded(*cache, 3), Inserted::kYes);
  const auto old = PlaceOf(*cache, 3);
  cache->Forget(old);
  ASSERT_EQ(InsertDecoded(*cache, 3), Inserted::kYes);
  cache->Forget(old);
  EXPECT_EQ(FindDecoded(*cache, 3), Found::kRight);
}

TEST_F(DecodedCacheTest, ManyThreadsAtOnce) {
  const auto cache = folder_.Open(folder_.options(256 * kMiB));
  constexpr uint64_t kFiles = 240;
  std::atomic<int> wrong = 0;
  std::atomic<int> inserted = 0;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<std::string> notes;
      for (uint64_t step = 0; step < kFiles; ++step) {
        const uint64_t id = (step + thread * 60) % kFiles;
        if (InsertDecoded(*cache, id) == Inserted::kYes) ++inserted;
        const Found found = FindDecoded(*cache, id);
        if (found != Found::kRight) ++wrong;
        if (step % 50 == thread) cache->Refresh(notes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(inserted, kFiles) << "each once, whoever came first";
}

TEST(DecodedCacheSizes, OfSegments) {
  EXPECT_EQ(DecodedCache::SegmentBytes(16 * kMiB), kMiB);
  EXPECT_EQ(DecodedCache::SegmentBytes(kGiB), 64 * kMiB);
  EXPECT_EQ(DecodedCache::SegmentBytes(4 * kGiB), 256 * kMiB);
  EXPECT_EQ(DecodedCache::SegmentBytes(200 * kGiB), 256 * kMiB);
  EXPECT_EQ(DecodedCache::SegmentBytes(1024 * kGiB), kGiB);
  EXPECT_EQ(DecodedCache::SegmentBytes(16 * kMiB + 12345) % 4096, 0U);
}

TEST(DecodedCacheOptions, AreRefusedWithACure) {
  std::vector<std::string> notes;
  DecodedCache::Options options;
  options.bytes_max = kGiB;
  EXPECT_EQ(DecodedCache::Open(options, notes).status().code(), Code::kInvalid);
  options.folder = "/nowhere";
  options.bytes_max = kMiB;
  const Status small = DecodedCache::Open(options, notes).status();
  EXPECT_EQ(small.code(), Code::kInvalid);
  EXPECT_NE(small.text().find("16.0 MiB or more"), std::string::npos) << small.text();
}

}  // namespace
}  // namespace augur
