// SPDX-License-Identifier: Apache-2.0
#include "predict/epoch_follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "unit/predict_evidence/loader_reads.h"

namespace augur {
namespace {

using Kind = EpochFollower::Kind;

std::shared_ptr<const EpochOrder> Epoch(Order files) { return std::make_shared<const EpochOrder>(std::move(files)); }

// What of the order is not in `read`, in order.
Order Unread(const Order& order, const std::vector<bool>& read) {
  Order rest;
  for (size_t place = 0; place < order.size(); ++place) {
    if (!read[place]) rest.push_back(order[place]);
  }
  return rest;
}

std::vector<LoaderPlan> Plans() {
  return {{.workers = 1},
          {.workers = 4},
          {.workers = 4, .batch = 1},
          {.workers = 8, .batch = 16, .prefetch = 4},
          {.workers = 2, .ranks = 4}};
}

TEST(EpochFollowerTest, EveryReadOfALoaderIsAHit) {
  std::mt19937_64 random(1);
  for (const uint32_t count : {100U, 1000U, 5000U, 50'000U}) {
    const Order order = RandomOrder(count, random);
    for (const LoaderPlan& plan : Plans()) {
      EpochFollower follower(Epoch(order));
      for (const LoaderRead& read : LoaderReads(count, plan, random)) (void)follower.OnRead(order[read.place]);
      // A worker that has fallen far behind, now and then.
      EXPECT_LE(follower.misses(), count / 5000) << count << " reads, " << plan.workers << " workers";
      EXPECT_EQ(follower.hits() + follower.misses(), count);
      EXPECT_TRUE(follower.finished());
      EXPECT_FALSE(follower.lost());
      EXPECT_TRUE(follower.Rest().empty());
    }
  }
  // 8,192 files under way.
  const Order order = RandomOrder(100'000, random);
  EpochFollower follower(Epoch(order));
  for (const LoaderRead& read : LoaderReads(100'000, {.workers = 16, .batch = 256}, random)) {
    (void)follower.OnRead(order[read.place]);
    ASSERT_FALSE(follower.lost()) << follower.hits() << " hits";
  }
  EXPECT_LE(follower.misses(), 20U);
}

TEST(EpochFollowerTest, TheRestIsWhatIsUnread) {
  std::mt19937_64 random(2);
  constexpr uint32_t kCount = 20'000;
  const Order order = RandomOrder(kCount, random);
  for (const LoaderPlan& plan : Plans()) {
    EpochFollower follower(Epoch(order));
    std::vector<bool> read(kCount, false);
    EXPECT_EQ(follower.Rest(), order);
    uint64_t reads = 0;
    for (const LoaderRead& one : LoaderReads(kCount, plan, random)) {
      (void)follower.OnRead(order[one.place]);
      read[one.place] = true;
      if (++reads % 2500 == 1) {
        EXPECT_EQ(follower.Rest(), Unread(order, read)) << reads << " reads";
      }
    }
    EXPECT_TRUE(follower.Rest().empty());
  }
}

// Files that the page cache has are not seen read: they are behind before long.
TEST(EpochFollowerTest, ReadsThatAreNotSeen) {
  std::mt19937_64 random(3);
  constexpr uint32_t kCount = 50'000;
  const Order order = RandomOrder(kCount, random);
  for (const double unseen : {0.1, 0.5, 0.9}) {
    for (LoaderPlan plan : Plans()) {
      plan.unseen = unseen;
      EpochFollower follower(Epoch(order));
      uint32_t foremost = 0;
      for (const LoaderRead& read : LoaderReads(kCount, plan, random)) {
        (void)follower.OnRead(order[read.place]);
        ASSERT_FALSE(follower.lost());
        foremost = std::max(foremost, read.place);
        // What is left before the front is what readers apart may still come to.
        if (follower.hits() % 1000 == 500) {
          EXPECT_LE(follower.Rest().size(), kCount - foremost + 15'000) << unseen << " unseen";
        }
      }
      EXPECT_LE(follower.misses(), kCount / 5000) << unseen << " unseen, " << plan.workers << " workers";
      EXPECT_TRUE(follower.NearEnd());
    }
  }
}

TEST(EpochFollowerTest, OneReadInTenIsAStrangers) {
  std::mt19937_64 random(4);
  for (const uint32_t count : {1000U, 50'000U}) {
    const Order order = RandomOrder(count, random);
    for (const bool same_files : {false, true}) {
      for (const LoaderPlan& plan : Plans()) {
        EpochFollower follower(Epoch(order));
        uint64_t own = 0;
        uint64_t own_missed = 0;
        for (const LoaderRead& read : LoaderReads(count, plan, random)) {
          if (random() % 10 == 0) {
            const auto file = static_cast<EntryNumber>(random() % count);
            (void)follower.OnRead(same_files ? file : count + file);
          }
          ++own;
          if (follower.OnRead(order[read.place]) == Kind::kMiss) ++own_missed;
          ASSERT_FALSE(follower.lost()) << count << " reads, of which " << own << " were made, " << plan.workers
                                        << " workers of " << plan.ranks << " ranks";
        }
        EXPECT_LE(own_missed, own / 50) << count << " reads";
        EXPECT_TRUE(follower.NearEnd());
      }
    }
  }
}

TEST(EpochFollowerTest, AFurtherPieceOfAReadIsNoMiss) {
  EpochFollower follower(Epoch({5, 6, 7, 8}));
  EXPECT_EQ(follower.OnRead(5), Kind::kHit);
  EXPECT_EQ(follower.OnRead(5), Kind::kAgain);
  EXPECT_TRUE(follower.ReadLately(5));
  EXPECT_FALSE(follower.ReadLately(6));
  EXPECT_EQ(follower.OnRead(9), Kind::kMiss);
  EXPECT_EQ(follower.hits(), 1U);
  EXPECT_EQ(follower.misses(), 1U);
}

// A sampler that pads, or repeats, reads a file as often as it says.
TEST(EpochFollowerTest, FilesThatComeAgain) {
  EpochFollower follower(Epoch({5, 6, 5, 5, 7}));
  EXPECT_EQ(follower.Expects(5), 0U);
  EXPECT_EQ(follower.OnRead(5), Kind::kHit);
  EXPECT_EQ(follower.Expects(5), 2U);
  EXPECT_EQ(follower.OnRead(6), Kind::kHit);
  EXPECT_EQ(follower.OnRead(5), Kind::kHit);
  EXPECT_EQ(follower.OnRead(5), Kind::kHit);
  EXPECT_EQ(follower.Expects(5), std::nullopt);
  EXPECT_EQ(follower.Rest(), (Order{7}));
}

TEST(EpochFollowerTest, LostAfterSomeForeignReads) {
  std::mt19937_64 random(5);
  constexpr uint32_t kCount = 10'000;
  const Order order = RandomOrder(kCount, random);
  EpochFollower follower(Epoch(order));
  const std::vector<LoaderRead> reads = LoaderReads(kCount, {.workers = 4}, random);
  for (size_t i = 0; i < 2000; ++i) (void)follower.OnRead(order[reads[i].place]);
  int foreign = 0;
  while (!follower.lost() && foreign < 100) (void)follower.OnRead(kCount + foreign++);
  EXPECT_GE(foreign, 8);
  EXPECT_LE(foreign, 25);
  // From the beginning on, when little speaks for it.
  EpochFollower young(Epoch(order));
  foreign = 0;
  while (!young.lost() && foreign < 100) (void)young.OnRead(kCount + foreign++);
  EXPECT_LE(foreign, 15);
}

// The same files in another order: that is what a wrong guess of an epoch, and a new sampler, look like.
TEST(EpochFollowerTest, AnotherOrderOfTheSameFilesIsLost) {
  std::mt19937_64 random(6);
  for (const uint32_t count : {1000U, 2000U, 5000U, 20'000U, 100'000U}) {
    for (const LoaderPlan& plan : Plans()) {
      const Order order = RandomOrder(count, random);
      const Order other = RandomOrder(count, random);
      EpochFollower follower(Epoch(order));
      uint64_t reads = 0;
      for (const LoaderRead& read : LoaderReads(count, plan, random)) {
        if (follower.lost()) break;
        ++reads;
        (void)follower.OnRead(other[read.place]);
      }
      EXPECT_TRUE(follower.lost()) << count << " reads";
      EXPECT_LE(reads, std::max(200U, count / 3)) << count << " reads";
    }
  }
}

TEST(EpochFollowerTest, AnotherOrderInMidEpochIsLost) {
  std::mt19937_64 random(7);
  for (const uint32_t count : {2000U, 20'000U, 100'000U}) {
    const Order order = RandomOrder(count, random);
    EpochFollower follower(Epoch(order));
    for (const LoaderRead& read : LoaderReads(count / 2, {.workers = 4}, random))
      (void)follower.OnRead(order[read.place]);
    ASSERT_FALSE(follower.lost());
    uint64_t reads = 0;
    while (!follower.lost() && reads < count) {
      (void)follower.OnRead(static_cast<EntryNumber>(random() % count));
      ++reads;
    }
    EXPECT_LE(reads, 400U) << count << " reads";
  }
}

// A page that the kernel dropped before a reader who maps his files touched it is read again, long after its file was
// opened; but whoever reads everything again is another epoch.
TEST(EpochFollowerTest, ReadAgainMuchLater) {
  std::mt19937_64 random(10);
  constexpr uint32_t kCount = 12'000;
  const Order order = RandomOrder(kCount, random);
  EpochFollower follower(Epoch(order));
  for (uint32_t place = 0; place < kCount / 10 * 9; ++place) {
    EXPECT_EQ(follower.OnRead(order[place]), Kind::kHit);
    if (place >= 5000 && place % 128 == 0) {
      for (int i = 0; i < 120; ++i) EXPECT_EQ(follower.OnRead(order[place - 1000 - random() % 4000]), Kind::kAgain);
    }
    ASSERT_FALSE(follower.lost());
  }
  const Order other = RandomOrder(kCount, random);
  size_t reads = 0;
  while (!follower.lost() && reads < 1000) (void)follower.OnRead(other[reads++]);
  EXPECT_LE(reads, EpochFollower::kAgainsMax + 150);  // one read in ten is a hit
}

// A loader that drops its last batch never comes to the end; when it begins anew in another order, that is seen.
TEST(EpochFollowerTest, AnotherOrderAfterADroppedBatchIsLost) {
  std::mt19937_64 random(11);
  for (const uint32_t count : {1000U, 12'000U, 100'000U}) {
    const Order order = RandomOrder(count, random);
    EpochFollower follower(Epoch(order));
    for (uint32_t place = 0; place < count - 100; ++place) (void)follower.OnRead(order[place]);
    ASSERT_FALSE(follower.lost());
    const Order other = RandomOrder(count, random);
    size_t reads = 0;
    while (!follower.lost() && reads < count) (void)follower.OnRead(other[reads++]);
    EXPECT_LE(reads, EpochFollower::kAgainsMax + 150) << count << " reads";
  }
}

TEST(EpochFollowerTest, BegunInMidEpoch) {
  std::mt19937_64 random(8);
  constexpr uint32_t kCount = 30'000;
  constexpr uint32_t kBegin = 12'000;
  const Order order = RandomOrder(kCount, random);
  const Order after(order.begin() + kBegin, order.end());
  EpochFollower follower(Epoch(order), kBegin);
  // What was read before it is not to be read again.
  EXPECT_EQ(follower.Rest(), after);
  for (const LoaderRead& read : LoaderReads(kCount - kBegin, {.workers = 4}, random)) {
    ASSERT_EQ(follower.OnRead(after[read.place]), Kind::kHit);
  }
  EXPECT_TRUE(follower.finished());
  EXPECT_TRUE(follower.Rest().empty());
}

TEST(EpochFollowerTest, TheEndOfAnEpoch) {
  std::mt19937_64 random(9);
  constexpr uint32_t kCount = 10'000;
  const Order order = RandomOrder(kCount, random);
  EpochFollower follower(Epoch(order));
  EXPECT_FALSE(follower.finished());
  EXPECT_FALSE(follower.NearEnd());
  for (uint32_t place = 0; place < kCount; ++place) {
    if (place == kCount / 2) {
      EXPECT_FALSE(follower.NearEnd());
    }
    if (place == kCount - 100) {
      EXPECT_FALSE(follower.finished());
      EXPECT_TRUE(follower.NearEnd());
    }
    (void)follower.OnRead(order[place]);
  }
  EXPECT_TRUE(follower.finished());
  // An epoch of which nothing was read has not ended, however short it is.
  EXPECT_FALSE(EpochFollower(Epoch({1, 2, 3})).finished());
}

}  // namespace
}  // namespace augur
