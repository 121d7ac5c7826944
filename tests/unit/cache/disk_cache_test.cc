// SPDX-License-Identifier: Apache-2.0
// What a disk cache promises while nothing goes wrong.
#include "cache/disk_cache.h"

#include <unistd.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "augur/store.h"
#include "base/units.h"
#include "io/read_engine.h"
#include "unit/cache/disk_cache_support.h"

namespace augur {
namespace {

using Inserted = DiskCache::Inserted;

static_assert(kDiskCacheBlockBytes == kBlockBytes, "whoever reads blocks of records reads blocks of these too");
static_assert(kDiskCachePageBytes == kAlignMax);

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTestFolder folder_;
};

// Around a page, a block, and the number of sums in one log entry, in two, and in three.
constexpr uint64_t kSizes[] = {1,        100,          4095,     4096,         4097,
                               kMiB - 1, kMiB,         kMiB + 1, 2 * kMiB + 7, 3 * kMiB - 1,
                               3 * kMiB, 3 * kMiB + 1, 8 * kMiB, 8 * kMiB + 1, 13 * kMiB};

TEST_F(DiskCacheTest, FindsWhatWasInsertedOfEverySize) {
  auto options = folder_.options(256 * kMiB);
  for (const bool direct : {true, false}) {
    options.direct = direct;
    const auto cache = DiskCacheTestFolder::Open(options);
    const uint64_t id_base = direct ? 0 : 100;
    for (const uint64_t bytes : kSizes) {
      SCOPED_TRACE(bytes);
      EXPECT_EQ(FindInDiskCache(*cache, id_base, bytes), Found::kAbsent);
      EXPECT_EQ(InsertIntoDiskCache(*cache, id_base, bytes), Inserted::kYes);
      EXPECT_EQ(FindInDiskCache(*cache, id_base, bytes), Found::kRight);
    }
    const auto place = PlaceOf(*cache, id_base, 3 * kMiB + 1);
    EXPECT_EQ(place.block_count(), 4U);
    EXPECT_EQ(place.offset % kDiskCachePageBytes, 0U);
    EXPECT_EQ(place.BlockOffset(3), place.offset + 3 * kMiB);
    EXPECT_EQ(place.BlockBytes(0), kMiB);
    EXPECT_EQ(place.BlockBytes(3), 1U);
    EXPECT_TRUE(direct || !place.file->direct);
  }
}

// Promise: later runs make nothing again.
TEST_F(DiskCacheTest, ALaterRunFindsAllOfIt) {
  constexpr uint64_t kFiles = 100;
  {
    const auto cache = folder_.Open();
    for (uint64_t id = 0; id < kFiles; ++id) ASSERT_EQ(InsertIntoDiskCache(*cache, id), Inserted::kYes);
  }
  const auto cache = folder_.Open();
  EXPECT_EQ(cache->counters().files, kFiles);
  for (uint64_t id = 0; id < kFiles; ++id) EXPECT_EQ(FindInDiskCache(*cache, id), Found::kRight) << id;
  EXPECT_EQ(FindInDiskCache(*cache, kFiles), Found::kAbsent);
  EXPECT_EQ(cache->counters().found, kFiles);
  EXPECT_EQ(cache->counters().missed, 1U);
  EXPECT_EQ(cache->counters().bad_entries, 0U);
}

TEST_F(DiskCacheTest, TheSizeIsPartOfTheKey) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertIntoDiskCache(*cache, 1, 1000), Inserted::kYes);
  DiskCacheKey key = DiskCacheTestKey(1, 1000);
  EXPECT_TRUE(cache->Contains(key));
  key.size = 1001;
  EXPECT_FALSE(cache->Contains(key));
  EXPECT_FALSE(cache->Find(key));
}

TEST_F(DiskCacheTest, WhatIsPresentIsNotWrittenAgain) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertIntoDiskCache(*cache, 1), Inserted::kYes);
  EXPECT_EQ(InsertIntoDiskCache(*cache, 1), Inserted::kPresent);
  EXPECT_EQ(cache->counters().inserted, 1U);
  EXPECT_EQ(cache->counters().inserted_bytes, DiskCacheTestBytes(1));
}

TEST_F(DiskCacheTest, NoRoomForNothingAndForMoreThanTheBound) {
  const auto cache = folder_.Open(folder_.options(DiskCache::kBytesMin));
  EXPECT_EQ(cache->Insert({.hash = {.low = 1, .high = 2}, .size = 0}, {}), Inserted::kNoRoom);
  EXPECT_EQ(InsertIntoDiskCache(*cache, 1, DiskCache::kBytesMin), Inserted::kNoRoom);
  EXPECT_EQ(InsertIntoDiskCache(*cache, 1, 1000), Inserted::kYes) << "a smaller one has room";
  EXPECT_EQ(cache->counters().no_room, 2U);
}

// Promise: several daemons share one folder; what others have finished is seen at open and by Refresh, not by Find.
TEST_F(DiskCacheTest, AnotherDaemonSeesItAfterALook) {
  const auto one = folder_.Open();
  const auto two = folder_.Open();
  for (uint64_t id = 0; id < 40; ++id) {
    ASSERT_EQ(InsertIntoDiskCache(*one, id), Inserted::kYes);
    ASSERT_EQ(FindInDiskCache(*two, id), Found::kAbsent);
    RefreshDiskCache(*two);
    ASSERT_EQ(FindInDiskCache(*two, id), Found::kRight) << id;
    ASSERT_EQ(InsertIntoDiskCache(*two, id), Inserted::kPresent);
  }
}

TEST_F(DiskCacheTest, EachWriterHasASegmentOfItsOwn) {
  const auto one = folder_.Open();
  const auto two = folder_.Open();
  for (uint64_t id = 0; id < 60; ++id) ASSERT_EQ(InsertIntoDiskCache(id % 2 == 0 ? *one : *two, id), Inserted::kYes);
  RefreshDiskCache(*one);
  RefreshDiskCache(*two);
  std::set<std::string> even;
  std::set<std::string> odd;
  for (uint64_t id = 0; id < 60; ++id) {
    EXPECT_EQ(FindInDiskCache(*one, id), Found::kRight) << id;
    EXPECT_EQ(FindInDiskCache(*two, id), Found::kRight) << id;
    (id % 2 == 0 ? even : odd).insert(PlaceOf(*one, id).file->path);
  }
  for (const std::string& path : even) EXPECT_FALSE(odd.contains(path)) << path;
}

TEST_F(DiskCacheTest, LooksAtABoundedRate) {
  TestClock clock;
  auto options = folder_.options();
  options.look_ms = 5000;
  options.now_ns = [&clock] { return clock.ns; };
  const auto cache = DiskCacheTestFolder::Open(options);
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
TEST_F(DiskCacheTest, ManyRunsOfOneFileMakeOneSegment) {
  constexpr uint64_t kRuns = 30;
  for (uint64_t id = 1; id <= kRuns; ++id) {
    const auto cache = folder_.Open();
    ASSERT_EQ(InsertIntoDiskCache(*cache, id, 10'000), Inserted::kYes);
  }
  EXPECT_EQ(folder_.files().size(), 1U);
  const auto cache = folder_.Open();
  for (uint64_t id = 1; id <= kRuns; ++id) EXPECT_EQ(FindInDiskCache(*cache, id, 10'000), Found::kRight) << id;
}

TEST_F(DiskCacheTest, AfterARunTheSegmentIsAsShortAsItsFiles) {
  {
    const auto cache = folder_.Open();
    ASSERT_EQ(InsertIntoDiskCache(*cache, 1, 10'000), Inserted::kYes);
    EXPECT_EQ(folder_.bytes(), DiskCache::SegmentBytes(64 * kMiB)) << "while it is written: what it may grow to";
  }
  EXPECT_LE(folder_.bytes(), 4096 + DiskCacheLogBytes(DiskCache::SegmentBytes(64 * kMiB)) + uint64_t{3} * 4096);
}

TEST_F(DiskCacheTest, ARunThatInsertsNothingLeavesNothing) {
  folder_.Open().reset();
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(DiskCacheTest, AFileLargerThanASegmentHasOneOfItsOwn) {
  const auto cache = folder_.Open(folder_.options(64 * kMiB));  // segments of 4 MiB
  ASSERT_EQ(InsertIntoDiskCache(*cache, 1, 20 * kMiB + 3), Inserted::kYes);
  ASSERT_EQ(InsertIntoDiskCache(*cache, 2, 1000), Inserted::kYes);
  EXPECT_EQ(FindInDiskCache(*cache, 1, 20 * kMiB + 3), Found::kRight);
  EXPECT_EQ(FindInDiskCache(*cache, 2, 1000), Found::kRight);
  EXPECT_EQ(folder_.files().size(), 2U);
}

TEST_F(DiskCacheTest, APlaceOutlivesTheCacheAndTheSegment) {
  auto cache = folder_.Open();
  ASSERT_EQ(InsertIntoDiskCache(*cache, 16), Inserted::kYes);
  const auto place = PlaceOf(*cache, 16);
  cache.reset();
  for (const std::string& file : folder_.files()) ASSERT_EQ(::unlink(file.c_str()), 0);
  EXPECT_EQ(ReadDiskCachePlace(place, 16), Found::kRight);
}

TEST_F(DiskCacheTest, AReadEngineReadsFromAPlace) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertIntoDiskCache(*cache, 5, 300'000), Inserted::kYes);
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
  EXPECT_TRUE(DiskCache::Check(place, 0, {bytes, 300'000}));
  EXPECT_FALSE(DiskCache::Check(place, 0, {bytes, 299'999}));
  EXPECT_FALSE(DiskCache::Check(place, 0, {bytes, 300'001}));
  EXPECT_FALSE(DiskCache::Check(place, 0, {bytes + 1, 300'000}));
}

// Promise: what failed its check is found no more, in this run and in later ones, and can be inserted again.
TEST_F(DiskCacheTest, WhatIsForgottenStaysSo) {
  constexpr uint64_t kFiles = 50;
  {
    const auto cache = folder_.Open();
    for (uint64_t id = 0; id < kFiles; ++id) ASSERT_EQ(InsertIntoDiskCache(*cache, id), Inserted::kYes);
    for (const uint64_t id : {0U, 16U, 17U, 49U}) {  // of many blocks and of one
      const auto place = PlaceOf(*cache, id);
      cache->Forget(place);
      cache->Forget(place);
      EXPECT_EQ(FindInDiskCache(*cache, id), Found::kAbsent);
    }
    EXPECT_EQ(cache->counters().forgotten, 4U);
    RefreshDiskCache(*cache);
    EXPECT_EQ(FindInDiskCache(*cache, 17), Found::kAbsent);
    EXPECT_EQ(InsertIntoDiskCache(*cache, 17), Inserted::kYes);
  }
  const auto cache = folder_.Open();
  for (uint64_t id = 0; id < kFiles; ++id) {
    const bool gone = id == 0 || id == 16 || id == 49;
    EXPECT_EQ(FindInDiskCache(*cache, id), gone ? Found::kAbsent : Found::kRight) << id;
  }
  EXPECT_EQ(cache->counters().bad_entries, 0U);
}

TEST_F(DiskCacheTest, AnOldPlaceForgetsNothingThatWasPutElsewhere) {
  const auto cache = folder_.Open();
  ASSERT_EQ(InsertIntoDiskCache(*cache, 3), Inserted::kYes);
  const auto old = PlaceOf(*cache, 3);
  cache->Forget(old);
  ASSERT_EQ(InsertIntoDiskCache(*cache, 3), Inserted::kYes);
  cache->Forget(old);
  EXPECT_EQ(FindInDiskCache(*cache, 3), Found::kRight);
}

TEST_F(DiskCacheTest, ManyThreadsAtOnce) {
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
        if (InsertIntoDiskCache(*cache, id) == Inserted::kYes) ++inserted;
        const Found found = FindInDiskCache(*cache, id);
        if (found != Found::kRight) ++wrong;
        if (step % 50 == thread) cache->Refresh(notes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(inserted, kFiles) << "each once, whoever came first";
}

TEST(DiskCacheSizes, OfSegments) {
  EXPECT_EQ(DiskCache::SegmentBytes(16 * kMiB), kMiB);
  EXPECT_EQ(DiskCache::SegmentBytes(kGiB), 64 * kMiB);
  EXPECT_EQ(DiskCache::SegmentBytes(4 * kGiB), 256 * kMiB);
  EXPECT_EQ(DiskCache::SegmentBytes(200 * kGiB), 256 * kMiB);
  EXPECT_EQ(DiskCache::SegmentBytes(1024 * kGiB), kGiB);
  EXPECT_EQ(DiskCache::SegmentBytes(16 * kMiB + 12345) % 4096, 0U);
}

TEST(DiskCacheOptions, AreRefusedWithACure) {
  std::vector<std::string> notes;
  DiskCache::Options options;
  options.bytes_max = kGiB;
  EXPECT_EQ(DiskCache::Open(options, notes).status().code(), Code::kInvalid);
  options.folder = "/nowhere";
  options.bytes_max = kMiB;
  const Status small = DiskCache::Open(options, notes).status();
  EXPECT_EQ(small.code(), Code::kInvalid);
  EXPECT_NE(small.text().find("16.0 MiB or more"), std::string::npos) << small.text();
}

}  // namespace
}  // namespace augur
