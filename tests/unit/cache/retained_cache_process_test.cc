// SPDX-License-Identifier: Apache-2.0
// Several processes share a retained cache, and die at any moment.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cache/retained_cache_layout.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = RetainedCache::Inserted;

constexpr int kWrongBytes = 3;
constexpr uint64_t kIds = 600;

class RetainedCacheProcessTest : public testing::Test {
 protected:
  // Steps until it is killed, or `rounds` times.
  int Work(uint64_t seed, int rounds) {
    const auto retained_cache = folder_.Open(6 * kMiB);
    if (!retained_cache) return 4;
    for (int round = 0; round < rounds; ++round) {
      if (!RandomSteps(*retained_cache, seed + static_cast<uint64_t>(round) * 1000, kIds, 200)) return kWrongBytes;
    }
    return 0;
  }

  // What is left after all of it: right bytes or none, and tables that still take all they promise.
  void ExpectSound() {
    const auto retained_cache = folder_.Open(6 * kMiB);
    for (uint64_t id = 0; id < kIds; ++id) EXPECT_GE(FindRight(*retained_cache, id), 0);
    retained_cache->Clear();
    EXPECT_EQ(retained_cache->used_bytes(), 0U);
    EXPECT_EQ(retained_cache->block_count(), 0U);
    uint64_t id = 0;
    while (retained_cache->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes) ++id;
    EXPECT_GT(retained_cache->used_bytes() + RetainedCache::RoomFor(TestBlockBytes(id)), retained_cache->bytes_max());
  }

  RetainedCacheFolder folder_;
};

TEST_F(RetainedCacheProcessTest, TwoAtOnceSeeRightBytes) {
  ChildProcess one([this] { return Work(1, 40); });
  ChildProcess two([this] { return Work(2, 40); });
  EXPECT_EQ(one.Wait(), 0);
  EXPECT_EQ(two.Wait(), 0);
  EXPECT_EQ(folder_.files().size(), 1U);
  ExpectSound();
}

// Promise: kill -9 at any moment leaves a cache that the others use: never wrong bytes, never a hang.
TEST_F(RetainedCacheProcessTest, KilledAtAnyMomentTheOthersGoOn) {
  constexpr int kKills = 300;
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  ChildProcess steady([this, seed] { return Work(seed, 400); });
  for (int kill = 0; kill < kKills; ++kill) {
    ChildProcess victim([this, seed, kill] { return Work(seed + 7 + static_cast<uint64_t>(kill), 1 << 20); });
    ::usleep(static_cast<useconds_t>(random() % 12'000));
    victim.Kill();
    ASSERT_EQ(victim.Wait(), 1000 + SIGKILL);
  }
  EXPECT_EQ(steady.Wait(), 0);
  ASSERT_EQ(folder_.files().size(), 1U);
  ExpectSound();
}

TEST_F(RetainedCacheProcessTest, ThePinsOfTheDeadDoNotCount) {
  StepPipe pinned;
  ChildProcess child([&] {
    const auto retained_cache = folder_.Open(6 * kMiB);
    if (retained_cache->Insert(TestKey(1), TestBlock(1)) != Inserted::kYes) return 1;
    // It is pinned as long as it is being checked.
    retained_cache->Find(TestKey(1), [&](RetainedCache::Pieces) {
      pinned.Go();
      ::pause();
      return true;
    });
    return 0;
  });
  ASSERT_TRUE(pinned.Await());
  const auto retained_cache = folder_.Open(6 * kMiB);
  EXPECT_EQ(retained_cache->attached(), 2U);
  EXPECT_FALSE(retained_cache->Erase(TestKey(1)));
  child.Kill();
  child.Wait();
  EXPECT_EQ(retained_cache->attached(), 1U);
  EXPECT_TRUE(retained_cache->Erase(TestKey(1)));
  EXPECT_EQ(retained_cache->used_bytes(), 0U);
}

// Runs `body` as process 1 of a namespace of its own, below a process that stays here. 77: there are no namespaces.
int AsProcessOne(const std::function<int()>& body) {
  if (::unshare(CLONE_NEWPID) != 0) return 77;
  ChildProcess inner([&] { return ::getpid() == 1 ? body() : 5; });
  return inner.Wait();
}

TEST_F(RetainedCacheProcessTest, TwoThatAreBothProcessOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: process namespaces";
  if (ChildProcess([] { return AsProcessOne([] { return 0; }); }).Wait() != 0) GTEST_SKIP() << "no process namespaces";
  StepPipe alive;  // its end is seen when the first has died
  StepPipe pinned;
  StepPipe tried;
  StepPipe died;
  ChildProcess one([&] {
    return AsProcessOne([&] {
      const auto retained_cache = folder_.Open(6 * kMiB);
      if (retained_cache->Insert(TestKey(kIds), TestBlock(kIds)) != Inserted::kYes) return 6;
      retained_cache->Find(TestKey(kIds), [&](RetainedCache::Pieces pieces) {
        pinned.Go();
        for (uint64_t seed = 0;; ++seed) {
          if (!RandomSteps(*retained_cache, seed, kIds, 100) || !HasBytesOf(kIds, pieces)) return false;
        }
      });
      return kWrongBytes;
    });
  });
  alive.OnlyAwait();
  ChildProcess two([&] {
    return AsProcessOne([&] {
      if (!pinned.Await()) return 8;
      const auto retained_cache = folder_.Open(6 * kMiB);
      if (retained_cache->attached() != 2) return 9;
      if (!RandomSteps(*retained_cache, 77, kIds, 5000)) return kWrongBytes;
      if (retained_cache->Erase(TestKey(kIds))) return 10;
      tried.Go();
      if (!died.Await()) return 11;
      if (retained_cache->attached() != 1 || !retained_cache->Erase(TestKey(kIds))) return 12;
      return RandomSteps(*retained_cache, 78, kIds, 1000) ? 0 : kWrongBytes;
    });
  });
  tried.OnlyAwait();
  EXPECT_TRUE(tried.Await());
  one.Kill();
  one.Wait();
  EXPECT_FALSE(alive.Await());
  died.Go();
  EXPECT_EQ(two.Wait(), 0);
  ExpectSound();
}

}  // namespace
}  // namespace augur
