// SPDX-License-Identifier: Apache-2.0
// Several daemons share a folder, and die at any moment.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>

#include "base/units.h"
#include "unit/cache/disk_cache_support.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = DiskCache::Inserted;

class DiskCacheProcessTest : public testing::Test {
 protected:
  // Inserts files from `first` on until it is killed, and tells each that is in.
  int WriteFor(uint64_t first, int told) const {
    const auto cache = folder_.Open(folder_.options(kGiB));
    for (uint64_t id = first;; ++id) {
      if (InsertIntoDiskCache(*cache, id) != Inserted::kYes) return 2;
      if (::write(told, &id, sizeof(id)) != sizeof(id)) return 3;
    }
  }

  DiskCacheTestFolder folder_;
};

// Promise: kill -9 at any moment leaves right files alone, and every file that was in before.
TEST_F(DiskCacheProcessTest, KilledAtAnyMomentAllThatWasInIsFound) {
  constexpr uint64_t kKills = 150;
  constexpr size_t kToldAtLeast = 3;
  constexpr uint64_t kPerWriter = 100'000;
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto watcher = folder_.Open(folder_.options(kGiB));
  std::set<uint64_t> told;
  for (uint64_t kill = 0; kill < kKills; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ChildProcess victim([&] { return WriteFor(kill * kPerWriter + 1, ends[1]); });
    ::close(ends[1]);
    // Every second one is let write something, however slow it is; the others may be killed while they begin.
    std::set<uint64_t> now;
    const auto hear = [&] {
      uint64_t id = 0;
      return ::read(ends[0], &id, sizeof(id)) == sizeof(id) && now.insert(id).second;
    };
    while (kill % 2 == 1 && now.size() < kToldAtLeast) ASSERT_TRUE(hear());
    ::usleep(static_cast<useconds_t>(random() % 25'000));
    victim.Kill();
    ASSERT_EQ(victim.Wait(), 1000 + SIGKILL);
    while (hear()) {
    }
    ::close(ends[0]);
    RefreshDiskCache(*watcher);
    for (const uint64_t id : now) ASSERT_EQ(FindInDiskCache(*watcher, id), Found::kRight) << id;
    told.merge(now);
  }
  const auto cache = folder_.Open(folder_.options(kGiB));
  EXPECT_EQ(cache->counters().bad_entries, 0U);
  EXPECT_GE(cache->counters().files, told.size());
  EXPECT_LE(cache->counters().files, told.size() + kKills) << "at most one of each that nobody was told of";
  uint64_t found = 0;
  for (uint64_t kill = 0; kill < kKills; ++kill) {
    for (uint64_t id = kill * kPerWriter + 1; cache->Contains(DiskCacheTestKey(id, DiskCacheTestBytes(id)));
         ++id, ++found) {
      ASSERT_EQ(FindInDiskCache(*cache, id), Found::kRight) << id;
    }
  }
  EXPECT_EQ(found, cache->counters().files) << "all entries were checked";
  EXPECT_LE(folder_.bytes(), kGiB);
  // Each went on with what the one before had left: no more segments than what is in them needs, and one.
  uint64_t bytes = 0;
  for (const uint64_t id : told) bytes += DiskCacheTestBytes(id);
  EXPECT_LE(folder_.files().size(), bytes * 2 / DiskCache::SegmentBytes(kGiB) + 2);
}

// Several that write, find, forget and are killed, in a folder too small for all of it.
TEST_F(DiskCacheProcessTest, ManyAtOnceInAFullFolder) {
  constexpr uint64_t kIds = 400;
  constexpr int kKills = 40;
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto work = [&](uint64_t worker_seed, int rounds) {
    auto options = folder_.options(DiskCache::kBytesMin);
    std::vector<std::string> notes;
    const auto opened = DiskCache::Open(options, notes);
    if (!opened.ok()) return 2;
    DiskCache& cache = **opened;
    std::mt19937_64 steps(worker_seed);
    for (int round = 0; round < rounds; ++round) {
      const uint64_t id = steps() % kIds;
      if (id % 16 == 0) continue;
      switch (steps() % 8) {
        case 0: cache.Refresh(notes); break;
        case 1: {
          const auto place = cache.Find(DiskCacheTestKey(id, DiskCacheTestBytes(id)));
          if (place) cache.Forget(*place);
          break;
        }
        case 2:
        case 3:
        case 4:
          if (InsertIntoDiskCache(cache, id) == Inserted::kFailed) return 4;
          break;
        default:
          // Refused: another may have found a file forgotten here dead, and have put another in its place.
          if (FindInDiskCache(cache, id) == Found::kWrong) return 3;
      }
    }
    return 0;
  };
  ChildProcess one([&] { return work(seed, 6000); });
  ChildProcess two([&] { return work(seed + 1, 6000); });
  for (int kill = 0; kill < kKills; ++kill) {
    ChildProcess victim([&] { return work(seed + 2 + static_cast<uint64_t>(kill), 1 << 30); });
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    victim.Kill();
    ASSERT_EQ(victim.Wait(), 1000 + SIGKILL);
    EXPECT_LE(folder_.bytes(), DiskCache::kBytesMin);
  }
  EXPECT_EQ(one.Wait(), 0);
  EXPECT_EQ(two.Wait(), 0);
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(folder_.options(DiskCache::kBytesMin), notes);
  ASSERT_TRUE(cache.ok());
  for (uint64_t id = 0; id < kIds; ++id) EXPECT_NE(FindInDiskCache(**cache, id), Found::kWrong) << id;
}

}  // namespace
}  // namespace augur
