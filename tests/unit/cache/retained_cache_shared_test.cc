// SPDX-License-Identifier: Apache-2.0
// What daemons share, and what a restarted one finds again: retained caches in shared memory.
#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cache/retained_cache.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Place = RetainedCache::Place;
using Inserted = RetainedCache::Inserted;

class SharedRetainedCacheTest : public testing::Test {
 protected:
  RetainedCacheFolder folder_;
};

// Promise: a restarted daemon finds what was there, and checks each block whenever it hands it out.
TEST_F(SharedRetainedCacheTest, IsFoundAgainAndChecked) {
  std::map<uint64_t, uint64_t> kept;
  EXPECT_EQ(RetainedCache::HeldAlready(folder_.options(32 * kMiB)), 0U);
  {
    const auto retained_cache = folder_.Open(32 * kMiB);
    for (uint64_t id = 0; id < 500; ++id) ASSERT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), Inserted::kYes);
    for (uint64_t id = 0; id < 500; id += 3) ASSERT_TRUE(retained_cache->Erase(TestKey(id)));
    for (const auto& item : retained_cache->List()) kept[item.identity.high] = item.bytes;
    EXPECT_GE(RetainedCache::HeldAlready(folder_.options(32 * kMiB)), retained_cache->used_bytes());
  }
  const auto retained_cache = folder_.Open(32 * kMiB);
  std::map<uint64_t, uint64_t> found;
  for (const auto& item : retained_cache->List()) found[item.identity.high] = item.bytes;
  EXPECT_EQ(found, kept);
  for (uint64_t id = 0; id < 500; ++id) {
    for (int time = 0; time < 2; ++time) {
      int checks = 0;
      const auto pin = retained_cache->Find(TestKey(id), [&](RetainedCache::Pieces pieces) {
        ++checks;
        return HasBytesOf(id, pieces);
      });
      ASSERT_EQ(pin.has_value(), id % 3 != 0);
      ASSERT_EQ(checks, id % 3 != 0 ? 1 : 0);
    }
  }
}

TEST_F(SharedRetainedCacheTest, WhatIsNotRightIsThrownAway) {
  ASSERT_EQ(folder_.Open(8 * kMiB)->Insert(TestKey(1), WrongBlock(1)), Inserted::kYes);
  const auto retained_cache = folder_.Open(8 * kMiB);
  EXPECT_EQ(FindRight(*retained_cache, 1), 0);
  EXPECT_FALSE(retained_cache->Contains(TestKey(1)));
  EXPECT_EQ(retained_cache->used_bytes(), 0U);
  EXPECT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_EQ(FindRight(*retained_cache, 1), 1);
}

// Bytes that one has pinned are found wrong by another: they cannot be found any more, and their room comes back.
TEST_F(SharedRetainedCacheTest, WhatIsNotRightButPinnedGoesLater) {
  const auto one = folder_.Open(8 * kMiB);
  const auto two = folder_.Open(8 * kMiB);
  EXPECT_EQ(one->attached(), 2U);
  ASSERT_EQ(one->Insert(TestKey(1), WrongBlock(1)), Inserted::kYes);
  // It is pinned as long as it is being checked.
  const auto pin = one->Find(TestKey(1), [&](RetainedCache::Pieces) {
    EXPECT_EQ(FindRight(*two, 1), 0);
    EXPECT_FALSE(one->Contains(TestKey(1)));
    EXPECT_EQ(one->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
    return true;
  });
  if (!pin) FAIL();
  EXPECT_FALSE(HasBytesOf(1, pin->pieces())) << "what it was asked for, not what was put in meanwhile";
  EXPECT_EQ(FindRight(*two, 1), 1);
  uint64_t id = 3;
  while (one->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes) ++id;
  one->Clear();
  EXPECT_EQ(one->used_bytes(), 0U);
}

TEST_F(SharedRetainedCacheTest, WhatAnotherOneHasPutInIsContainedAtOnce) {
  const auto one = folder_.Open(16 * kMiB);
  const auto two = folder_.Open(16 * kMiB);
  ASSERT_EQ(one->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_TRUE(two->Contains(TestKey(1)));
}

TEST_F(SharedRetainedCacheTest, TwoMountsShareAndLeaveEachOtherWhatIsBeingCopied) {
  const auto one = folder_.Open(16 * kMiB);
  const auto two = folder_.Open(16 * kMiB);
  EXPECT_EQ(one->path(), two->path());
  ASSERT_EQ(one->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_EQ(two->Insert(TestKey(1), TestBlock(1)), Inserted::kPresent);
  EXPECT_EQ(FindRight(*two, 1), 1);
  const auto pin = two->Find(TestKey(1), [&](RetainedCache::Pieces) {
    EXPECT_FALSE(one->Erase(TestKey(1)));
    EXPECT_EQ(one->Clear(), 0U);
    return true;
  });
  if (!pin) FAIL();
  EXPECT_TRUE(one->Erase(TestKey(1)));
  EXPECT_FALSE(two->Contains(TestKey(1)));
  EXPECT_TRUE(HasBytesOf(1, pin->pieces()));
}

// What was there before both came is anybody's; what one has put in since is not the other's to put out.
TEST_F(SharedRetainedCacheTest, WhatAnotherOneMayHavePutInStays) {
  const auto none = [](const RetainedCacheKey&) { return false; };
  ASSERT_EQ(folder_.Open(16 * kMiB)->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  const auto one = folder_.Open(16 * kMiB);
  ASSERT_EQ(one->Insert(TestKey(2), TestBlock(2)), Inserted::kYes);
  auto two = folder_.Open(16 * kMiB);
  ASSERT_EQ(one->Insert(TestKey(3), TestBlock(3)), Inserted::kYes);
  ASSERT_EQ(two->Insert(TestKey(4), TestBlock(4)), Inserted::kYes);
  ASSERT_EQ(FindRight(*one, 4), 1);
  ASSERT_EQ(FindRight(*two, 3), 1);
  const auto there = [&] {
    std::vector<uint64_t> ids;
    for (const RetainedCacheKey& kept : one->List()) ids.push_back(kept.identity.high);
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  // `one` was there first, so what came after it, and not from `two`, may be its.
  two->EvictUnknown(UINT64_MAX, none);
  EXPECT_EQ(there(), (std::vector<uint64_t>{2, 3}));
  ASSERT_EQ(two->Insert(TestKey(4), TestBlock(4)), Inserted::kYes);
  one->EvictUnknown(UINT64_MAX, none);
  EXPECT_EQ(there(), (std::vector<uint64_t>{4}));
  two.reset();
  one->EvictUnknown(UINT64_MAX, none);
  EXPECT_EQ(there(), (std::vector<uint64_t>{}));
}

TEST_F(SharedRetainedCacheTest, AnotherStoreHasItsOwn) {
  const auto one = folder_.Open(8 * kMiB);
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.identity = "another";
  std::vector<std::string> notes;
  const auto other = RetainedCache::Open(options, notes);
  ASSERT_TRUE(other.ok());
  EXPECT_NE((*other)->path(), one->path());
  ASSERT_EQ(one->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  EXPECT_FALSE((*other)->Contains(TestKey(1)));
}

TEST_F(SharedRetainedCacheTest, ALaterDaemonSetsTheSizeAnewAndKeepsWhatHasRoom) {
  uint64_t id = 0;
  uint64_t small_max = 0;
  {
    const auto retained_cache = folder_.Open(8 * kMiB);
    small_max = retained_cache->bytes_max();
    while (retained_cache->Insert(TestKey(id), TestBlock(id)) == Inserted::kYes) ++id;
  }
  {
    const auto retained_cache = folder_.Open(16 * kMiB);
    EXPECT_EQ(retained_cache->block_count(), id);
    EXPECT_GT(retained_cache->bytes_max(), small_max + 7 * kMiB);
    EXPECT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), Inserted::kYes);
    // Who comes beside it takes the larger wish.
    EXPECT_EQ(folder_.Open(8 * kMiB)->bytes_max(), retained_cache->bytes_max());
    for (; retained_cache->Insert(TestKey(id + 1), TestBlock(id + 1)) == Inserted::kYes; ++id) {
    }
  }
  const auto retained_cache = folder_.Open(8 * kMiB);
  EXPECT_EQ(retained_cache->bytes_max(), small_max);
  EXPECT_LE(retained_cache->used_bytes(), retained_cache->bytes_max());
  EXPECT_GT(retained_cache->used_bytes(), retained_cache->bytes_max() / 2) << "not more is lost than must be";
  // The machine has the rest of it back.
  EXPECT_LE(retained_cache->held_bytes(), 8 * kMiB);
  EXPECT_LE(RetainedCache::HeldAlready(folder_.options(8 * kMiB)), 8 * kMiB);
  uint64_t found = 0;
  for (uint64_t at = 0; at <= id; ++at) found += FindRight(*retained_cache, at) == 1 ? 1 : 0;
  EXPECT_EQ(found, retained_cache->block_count());
  for (; retained_cache->block_count() > 0;
       retained_cache->EvictUnknown(1, [](const RetainedCacheKey&) { return false; })) {
  }
  EXPECT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
}

// As small as would leave no room beside the tables of a much larger one.
TEST_F(SharedRetainedCacheTest, OneThatWasMadeForMuchMoreIsBegunAnew) {
  {
    const auto retained_cache = folder_.Open(192 * kMiB);
    const std::vector<std::byte> one(1, std::byte{1});
    for (uint64_t id = 0; id < 40'000; ++id) ASSERT_EQ(retained_cache->Insert(KeyFor(id, one), one), Inserted::kYes);
  }
  std::vector<std::string> notes;
  const auto opened = RetainedCache::Open(folder_.options(4 * kMiB), notes);
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("made for more memory"), std::string::npos) << notes[0];
  EXPECT_EQ((*opened)->place(), Place::kShm);
  EXPECT_EQ((*opened)->block_count(), 0U);
  EXPECT_EQ((*opened)->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
}

// Promise: who is stopped while it holds the lock does not stop the others.
TEST_F(SharedRetainedCacheTest, AHeldLockIsAMissAndNoHang) {
  const auto retained_cache = folder_.Open(8 * kMiB);
  ASSERT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  UniqueFd holder(::open(retained_cache->path().c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  ASSERT_EQ(::fcntl(holder.get(), F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(FindRight(*retained_cache, 1), 0);
  EXPECT_EQ(retained_cache->Insert(TestKey(2), TestBlock(2)), Inserted::kNoRoom);
  EXPECT_FALSE(retained_cache->Erase(TestKey(1)));
  EXPECT_EQ(retained_cache->Clear(), 0U);
  EXPECT_TRUE(retained_cache->List().empty());
  holder.Reset();
  EXPECT_EQ(FindRight(*retained_cache, 1), 1);
}

TEST_F(SharedRetainedCacheTest, MoreDaemonsThanSlotsGetMemoryOfTheirOwn) {
  std::vector<std::unique_ptr<RetainedCache>> all;
  for (unsigned at = 0; at < RetainedCache::kDaemonsMax; ++at) all.push_back(folder_.Open(8 * kMiB));
  EXPECT_EQ(all[0]->attached(), RetainedCache::kDaemonsMax);
  std::vector<std::string> notes;
  const auto more = RetainedCache::Open(folder_.options(8 * kMiB), notes);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ((*more)->place(), Place::kRam);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("64 daemons"), std::string::npos) << notes[0];
  ASSERT_EQ(all[63]->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  all.erase(all.begin());
  EXPECT_EQ(all[0]->attached(), RetainedCache::kDaemonsMax - 1);
  EXPECT_EQ(FindRight(*folder_.Open(8 * kMiB), 1), 1);
}

}  // namespace
}  // namespace augur
