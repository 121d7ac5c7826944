// SPDX-License-Identifier: Apache-2.0
#include "predict/order_fit.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "predict/epoch_follower.h"
#include "unit/predict_evidence/loader_reads.h"

namespace augur {
namespace {

std::shared_ptr<const EpochOrder> Epoch(Order files) { return std::make_shared<const EpochOrder>(std::move(files)); }

// An order that is predicted, and how far its readers are thought to be.
struct Watched {
  explicit Watched(const Order& order) : epoch(Epoch(order)), fit(epoch), follower(epoch) {}
  void OnRead(EntryNumber file, uint32_t stream) {
    fit.OnRead(file, stream, follower.front());
    (void)follower.OnRead(file);
  }
  std::shared_ptr<const EpochOrder> epoch;
  OrderFit fit;
  EpochFollower follower;
};

std::vector<LoaderPlan> Plans() {
  return {{.workers = 1},
          {.workers = 4},
          {.workers = 4, .named = false},
          {.workers = 4, .batch = 1},
          {.workers = 8, .batch = 16, .prefetch = 4},
          {.workers = 2, .ranks = 4},
          {.workers = 2, .unseen = 0.5, .named = false}};
}

TEST(OrderFitTest, TheReadsOfALoaderFit) {
  std::mt19937_64 random(1);
  for (const uint32_t count : {200U, 480U, 1200U, 4000U}) {
    for (const LoaderPlan& plan : Plans()) {
      Watched watched(RandomOrder(count, random));
      uint64_t seen = 0;
      for (const LoaderRead& read : LoaderReads(count, plan, random)) {
        watched.OnRead(watched.epoch->files()[read.place], read.stream);
        ++seen;
        ASSERT_FALSE(watched.fit.lost()) << count << " reads, " << plan.workers << " workers, read " << seen;
      }
      EXPECT_GE(watched.fit.fitted(), seen * 9 / 10) << count << " reads, " << plan.workers << " workers";
      EXPECT_EQ(watched.fit.unfitted(), 0U);
    }
  }
}

// The reads of a quarter of the ranks have spoken for the order; then the others begin, anywhere in it, and near the
// end of an epoch a stream's first read speaks against it.
TEST(OrderFitTest, WhatWasSeenHoldsWhenRanksAreAdded) {
  constexpr uint32_t kCount = 800;
  constexpr uint32_t kRanks = 24;
  std::mt19937_64 random(4);
  const auto all = Epoch(RandomOrder(kCount, random));
  const auto next = Epoch(RandomOrder(kCount, random));
  Order quarter;
  for (uint32_t place = 0; place < kCount; place += 4) quarter.push_back(all->files()[place]);
  Watched watched(quarter);
  for (const EntryNumber file : quarter) watched.OnRead(file, 1);
  const uint64_t fitted = watched.fit.fitted();
  EXPECT_GE(fitted, quarter.size() * 9 / 10);
  OrderFit anew(all, false);
  for (OrderFit* fit : {&watched.fit, &anew}) {
    if (fit == &watched.fit) fit->Widen(all);
    fit->SetNext(next);
    for (uint32_t rank = 0; rank < kRanks; ++rank) fit->OnRead(all->files()[rank * 12 + 1], 2 + rank, kCount - 100);
  }
  EXPECT_FALSE(watched.fit.lost());
  EXPECT_GE(watched.fit.fitted(), fitted);
  EXPECT_TRUE(anew.lost()) << "else the test shows nothing";
}

// tf.data: threads that take the next file in turn, each a stream of its own.
TEST(OrderFitTest, TheReadsOfThreadsFit) {
  std::mt19937_64 random(2);
  for (const uint32_t threads : {2U, 16U, 32U}) {
    Watched watched(RandomOrder(480, random));
    std::vector<uint32_t> under_way;
    for (uint32_t next = 0; next < 480 || !under_way.empty();) {
      while (under_way.size() < threads && next < 480) under_way.push_back(next++);
      const size_t at = random() % under_way.size();
      watched.OnRead(watched.epoch->files()[under_way[at]], 1 + static_cast<uint32_t>(at));
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
      ASSERT_FALSE(watched.fit.lost()) << threads << " threads, next " << next;
    }
  }
}

// The next epoch's reads come among the last ones of this epoch; then it is the running one.
TEST(OrderFitTest, FollowsFromEpochToEpoch) {
  std::mt19937_64 random(3);
  auto order = Epoch(RandomOrder(480, random));
  OrderFit fit(order);
  for (int epoch = 0; epoch < 5; ++epoch) {
    const auto next = Epoch(RandomOrder(480, random));
    fit.SetNext(next);
    const std::vector<LoaderRead> reads = LoaderReads(480, {.workers = 2}, random);
    EpochFollower follower(order);
    for (size_t i = 0; i < reads.size(); ++i) {
      fit.OnRead(order->files()[reads[i].place], reads[i].stream, follower.front());
      (void)follower.OnRead(order->files()[reads[i].place]);
      ASSERT_FALSE(fit.lost()) << "epoch " << epoch << ", read " << i;
    }
    EXPECT_GE(fit.fitted(), 430U) << epoch;
    fit.Roll();
    EXPECT_EQ(fit.fitted(), 0U);
    order = next;
  }
}

TEST(OrderFitTest, AnotherOrderIsLostSoon) {
  std::mt19937_64 random(4);
  for (const uint32_t count : {200U, 480U, 1200U, 4000U}) {
    for (const bool named : {false, true}) {
      Watched watched(RandomOrder(count, random));
      // First as predicted, so that the sums are at their maximum.
      for (const LoaderRead& read : LoaderReads(count, {.workers = 2, .named = named}, random)) {
        watched.OnRead(watched.epoch->files()[read.place], read.stream);
      }
      watched.fit.SetNext(watched.epoch);
      const Order other = RandomOrder(count, random);
      const uint64_t fitted = watched.fit.fitted();
      uint64_t reads = 0;
      for (const LoaderRead& read : LoaderReads(count, {.workers = 2, .named = named}, random)) {
        if (watched.fit.lost()) break;
        watched.OnRead(other[read.place], read.stream);
        ++reads;
      }
      EXPECT_TRUE(watched.fit.lost()) << count << (named ? " named" : "");
      EXPECT_LE(reads, 120U) << count << (named ? " named" : "");
      watched.fit.CountAsUnfitted();
      EXPECT_GE(watched.fit.unfitted(), reads * 3 / 4);
      EXPECT_LE(watched.fit.fitted(), fitted + reads / 4);
    }
  }
}

}  // namespace
}  // namespace augur
