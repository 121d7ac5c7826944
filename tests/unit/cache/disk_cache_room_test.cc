// SPDX-License-Identifier: Apache-2.0
// The bound, and what is put out for whom.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <set>

#include "base/units.h"
#include "unit/cache/disk_cache_support.h"

namespace augur {
namespace {

using Inserted = DiskCache::Inserted;

constexpr uint64_t kBound = 16 * kMiB;  // segments of 1 MiB
constexpr uint64_t kFileBytes = 100'000;

class DiskCacheRoomTest : public testing::Test {
 protected:
  DiskCache::Options Options() const {
    auto options = folder_.options(kBound);
    options.lookups_per_segment = 32;
    return options;
  }
  // An epoch over files first to first + count in random order: a file that is not found is made and inserted, as
  // the daemon does. Returns those that were found.
  static std::set<uint64_t> Epoch(DiskCache& cache, uint64_t first, uint64_t count, uint64_t seed) {
    std::vector<uint64_t> order(count);
    std::iota(order.begin(), order.end(), first);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    std::set<uint64_t> found;
    uint64_t step = 0;
    for (const uint64_t id : order) {
      if (const auto place = cache.Find(DiskCacheTestKey(id, kFileBytes))) {
        found.insert(id);
      } else {
        EXPECT_NE(InsertIntoDiskCache(cache, id, kFileBytes), Inserted::kFailed);
      }
      if (++step % 50 == 0) RefreshDiskCache(cache);
    }
    RefreshDiskCache(cache);
    return found;
  }

  DiskCacheTestFolder folder_;
};

TEST_F(DiskCacheRoomTest, NeverMoreThanTheBound) {
  const auto cache = DiskCacheTestFolder::Open(Options());
  uint64_t inserted = 0;
  for (uint64_t id = 0; id < 300; ++id) {
    inserted += InsertIntoDiskCache(*cache, id, kFileBytes) == Inserted::kYes ? 1 : 0;
    ASSERT_LE(folder_.bytes(), kBound);
  }
  EXPECT_GE(inserted * kFileBytes, kBound * 8 / 10) << "and most of it is used";
  EXPECT_EQ(cache->counters().no_room, 300 - inserted);
  EXPECT_LE(cache->counters().bytes, kBound);
}

TEST_F(DiskCacheRoomTest, NeverMoreThanTheBoundForSeveralTogether) {
  std::vector<std::unique_ptr<DiskCache>> daemons;
  daemons.reserve(4);
  for (int daemon = 0; daemon < 4; ++daemon) daemons.push_back(DiskCacheTestFolder::Open(Options()));
  uint64_t inserted = 0;
  for (uint64_t id = 0; id < 300; ++id) {
    inserted += InsertIntoDiskCache(*daemons[id % 4], id, kFileBytes) == Inserted::kYes ? 1 : 0;
    ASSERT_LE(folder_.bytes(), kBound);
  }
  EXPECT_GE(inserted * kFileBytes, kBound * 7 / 10);
  for (const auto& daemon : daemons) EXPECT_EQ(daemon->counters().put_out, 0U);
}

TEST_F(DiskCacheRoomTest, FilesOfManySizesFillIt) {
  const auto cache = DiskCacheTestFolder::Open(Options());
  uint64_t bytes = 0;
  std::mt19937_64 random(1);
  for (uint64_t id = 0; id < 3000; ++id) {
    const uint64_t size = 1 + random() % (id % 10 == 0 ? 900'000 : 30'000);
    if (InsertIntoDiskCache(*cache, id, size) == Inserted::kYes) bytes += DiskCachePages(size) * kDiskCachePageBytes;
  }
  EXPECT_LE(folder_.bytes(), kBound);
  EXPECT_GE(bytes, kBound * 85 / 100);
  EXPECT_LE(folder_.files().size(), 40U);
}

// Promise: of a data set larger than the bound, a constant part stays.
TEST_F(DiskCacheRoomTest, AConstantPartStaysOfADataSetThatIsTooLarge) {
  constexpr uint64_t kFiles = 600;  // 3.7 times the bound
  std::set<uint64_t> kept;
  for (uint64_t run = 0; run < 3; ++run) {
    const auto cache = DiskCacheTestFolder::Open(Options());
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      const std::set<uint64_t> found = Epoch(*cache, 0, kFiles, run * 10 + epoch);
      if (run == 0 && epoch == 0) {
        EXPECT_TRUE(found.empty());
      } else if (kept.empty()) {
        kept = found;
        EXPECT_GT(kept.size(), 130U);
      } else {
        EXPECT_TRUE(std::includes(found.begin(), found.end(), kept.begin(), kept.end())) << run << " " << epoch;
      }
    }
    EXPECT_EQ(cache->counters().put_out, 0U) << run;

    folder_.Age(int64_t{24} * 30);  // the next run comes a month later
  }
}

TEST_F(DiskCacheRoomTest, InTheOrderOfTheFilesToo) {
  for (uint64_t run = 0; run < 2; ++run) {
    const auto cache = DiskCacheTestFolder::Open(Options());
    for (uint64_t epoch = 0; epoch < 2; ++epoch) {
      uint64_t found = 0;
      for (uint64_t id = 0; id < 600; ++id) {
        if (cache->Find(DiskCacheTestKey(id, kFileBytes))) {
          ++found;
        } else {
          InsertIntoDiskCache(*cache, id, kFileBytes);
        }
      }
      RefreshDiskCache(*cache);
      EXPECT_TRUE(run + epoch == 0 || found > 130) << found;
    }
    EXPECT_EQ(cache->counters().put_out, 0U);
    folder_.Age(int64_t{24} * 30);
  }
}

// Promise: what was not used for the longest time gives way to a new run, the oldest first.
TEST_F(DiskCacheRoomTest, RunsOfLongAgoGiveWay) {
  Epoch(*DiskCacheTestFolder::Open(Options()), 0, 80, 1);
  folder_.Age(300);
  Epoch(*DiskCacheTestFolder::Open(Options()), 1000, 60, 1);
  const auto cache = DiskCacheTestFolder::Open(Options());
  // A new data set of half the bound: what is used now and the younger half of the old stay.
  std::set<uint64_t> found;
  for (uint64_t epoch = 0; epoch < 14; ++epoch) found = Epoch(*cache, 2000, 70, epoch);
  EXPECT_EQ(found.size(), 70U);
  EXPECT_GT(cache->counters().put_out, 0U);
  uint64_t oldest = 0;
  uint64_t younger = 0;
  for (uint64_t id = 0; id < 80; ++id) oldest += cache->Contains(DiskCacheTestKey(id, kFileBytes)) ? 1 : 0;
  for (uint64_t id = 1000; id < 1060; ++id) younger += cache->Contains(DiskCacheTestKey(id, kFileBytes)) ? 1 : 0;
  EXPECT_LT(oldest, 40U);
  EXPECT_GE(younger, 50U) << "the segment at the edge has some of both";
  EXPECT_LE(folder_.bytes(), kBound);
}

TEST_F(DiskCacheRoomTest, NothingIsPutOutBeforeTheRunKnowsItsOwn) {
  Epoch(*DiskCacheTestFolder::Open(Options()), 0, 300, 1);
  folder_.Age(300);
  const auto cache = DiskCacheTestFolder::Open(Options());
  for (uint64_t id = 1000; id < 1200; ++id) {  // 16 segments times 32 are 512 lookups
    EXPECT_FALSE(cache->Find(DiskCacheTestKey(id, kFileBytes)));
    InsertIntoDiskCache(*cache, id, kFileBytes);
  }
  EXPECT_EQ(cache->counters().put_out, 0U);
}

TEST_F(DiskCacheRoomTest, WhatAnotherDaemonUsesStays) {
  Epoch(*DiskCacheTestFolder::Open(Options()), 0, 300, 1);
  const auto user = DiskCacheTestFolder::Open(Options());
  const std::set<uint64_t> kept = Epoch(*user, 0, 300, 2);
  folder_.Age(300);  // as if it had not told its use: then its locks do
  const auto other = DiskCacheTestFolder::Open(Options());
  for (uint64_t epoch = 0; epoch < 10; ++epoch) Epoch(*other, 1000, 100, epoch);
  EXPECT_EQ(other->counters().put_out, 0U);
  const std::set<uint64_t> still = Epoch(*user, 0, 300, 3);
  EXPECT_TRUE(std::includes(still.begin(), still.end(), kept.begin(), kept.end()));
}

TEST_F(DiskCacheRoomTest, UseIsToldToThoseWhoComeLater) {
  Epoch(*DiskCacheTestFolder::Open(Options()), 0, 20, 1);
  folder_.Age(300);
  const auto old = std::filesystem::last_write_time(folder_.files().at(0));
  {
    const auto cache = DiskCacheTestFolder::Open(Options());
    RefreshDiskCache(*cache);
    EXPECT_EQ(std::filesystem::last_write_time(folder_.files().at(0)), old) << "to be opened is not to be used";
  }
  {
    const auto cache = DiskCacheTestFolder::Open(Options());
    for (uint64_t id = 0; id < 20; ++id) cache->Find(DiskCacheTestKey(id, kFileBytes));
  }
  for (const std::string& file : folder_.files()) EXPECT_GT(std::filesystem::last_write_time(file), old);
}

// A daemon that is mounted for weeks: what it used two days ago is not of what runs now.
TEST_F(DiskCacheRoomTest, OneDaemonForManyRuns) {
  TestClock clock;
  auto options = Options();
  options.now_ns = [&clock] { return clock.ns; };
  const auto cache = DiskCacheTestFolder::Open(options);
  Epoch(*cache, 0, 300, 1);
  Epoch(*cache, 0, 300, 2);
  Epoch(*cache, 1000, 100, 3);
  EXPECT_EQ(cache->counters().put_out, 0U);
  clock.Add(int64_t{49} * 3600);
  folder_.Age(0);
  for (const std::string& file : folder_.files()) ASSERT_TRUE(std::filesystem::exists(file));
  RefreshDiskCache(*cache);  // lets go of what was used two days ago
  std::set<uint64_t> found;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) found = Epoch(*cache, 1000, 100, epoch);
  EXPECT_EQ(found.size(), 100U);
  EXPECT_GT(cache->counters().put_out, 0U);
}

TEST_F(DiskCacheRoomTest, ASmallerBoundIsHeldWhenItIsOpened) {
  auto large = folder_.options(64 * kMiB);
  large.segment_bytes = 2 * kMiB;
  {
    const auto cache = DiskCacheTestFolder::Open(large);
    for (uint64_t id = 0; id < 400; ++id) ASSERT_EQ(InsertIntoDiskCache(*cache, id, kFileBytes), Inserted::kYes);
  }
  ASSERT_GT(folder_.bytes(), 2 * kBound);
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(Options(), notes);
  ASSERT_TRUE(cache.ok());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("were removed"), std::string::npos) << notes[0];
  EXPECT_LE(folder_.bytes(), kBound);
  uint64_t left = 0;
  for (uint64_t id = 0; id < 400; ++id) left += FindInDiskCache(**cache, id, kFileBytes) == Found::kRight ? 1 : 0;
  EXPECT_GT(left, 120U) << "no more than had to go";
}

TEST_F(DiskCacheRoomTest, ASmallerBoundTakesNothingThatIsInUse) {
  auto large = folder_.options(64 * kMiB);
  const auto user = DiskCacheTestFolder::Open(large);
  for (uint64_t id = 0; id < 400; ++id) ASSERT_EQ(InsertIntoDiskCache(*user, id, kFileBytes), Inserted::kYes);
  RefreshDiskCache(*user);
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(Options(), notes);
  ASSERT_TRUE(cache.ok());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("in use"), std::string::npos) << notes[0];
  EXPECT_EQ(InsertIntoDiskCache(**cache, 1000, kFileBytes), Inserted::kNoRoom);
  for (uint64_t id = 0; id < 400; ++id) EXPECT_EQ(FindInDiskCache(*user, id, kFileBytes), Found::kRight);
}

TEST_F(DiskCacheRoomTest, NoRoomIsNotLookedForEachTime) {
  TestClock clock;
  auto options = Options();
  options.look_ms = 5000;
  options.now_ns = [&clock] { return clock.ns; };
  const auto cache = DiskCacheTestFolder::Open(options);
  uint64_t id = 0;
  while (InsertIntoDiskCache(*cache, id, kFileBytes) == Inserted::kYes) ++id;
  std::filesystem::remove_all(folder_.path());
  std::filesystem::create_directory(folder_.path());
  EXPECT_EQ(InsertIntoDiskCache(*cache, id, kFileBytes), Inserted::kNoRoom) << "too soon to know better";
  clock.Add(5);
  EXPECT_EQ(InsertIntoDiskCache(*cache, id, kFileBytes), Inserted::kFailed)
      << "the folder it has open has no name any more";
}

}  // namespace
}  // namespace augur
