// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_score.h"

#include <cmath>

#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

class ReplayScoreTest : public ReplayTest {
 protected:
  static ReplayEpoch Epoch(const Order& order) {
    return {.files = order.size(),
            .head = {order.begin(), order.begin() + static_cast<ptrdiff_t>(std::min(order.size(), kReplayHeadFiles))}};
  }
  static Order First(const Order& order, size_t count, size_t from = 0) {
    const auto begin = order.begin() + static_cast<ptrdiff_t>(from);
    return {begin, begin + static_cast<ptrdiff_t>(count)};
  }
};

// The formula of the header by hand: all within w = m, one try of w after it for each doubling.
TEST_F(ReplayScoreTest, IsTheLikelihoodAgainstChance) {
  const Order order = Shuffled(1, 20'000);
  const double bits = BitsOfBeginning(First(order, 16), Epoch(order));
  // w is 16, 32 ... 2048, 4096: nine of them.
  EXPECT_NEAR(bits, 16 * std::log2(15.0 / 16 * 20'000 / 16 + 1.0 / 16) - std::log2(9), 1e-9);
}

TEST_F(ReplayScoreTest, BearsInterleavingAndStrangersAndUnseenFiles) {
  const Order order = Shuffled(2, 50'000);
  for (const size_t workers : {1U, 4U, 16U}) {
    Order reads = First(Interleaved(order, workers, 32, 7), 40);
    EXPECT_GT(BitsOfBeginning(reads, Epoch(order)), 100) << workers;
    for (size_t at = 0; at < reads.size(); at += 8) reads[at] = static_cast<EntryNumber>(60'000 + at);
    EXPECT_GT(BitsOfBeginning(reads, Epoch(order)), 50) << workers;
    Order half;  // the others are in the page cache
    for (size_t at = 0; at < reads.size(); at += 2) half.push_back(reads[at]);
    EXPECT_GT(BitsOfBeginning(half, Epoch(order)), 15) << workers;
  }
}

// 2^b or more comes with probability 2^-b at most: in 8,000 random orders 10 bits about 8 times at most, 20 bits
// hardly.
TEST_F(ReplayScoreTest, ChanceIsNotTakenForAgreement) {
  const Order order = Shuffled(3, 3000);
  const ReplayEpoch epoch = Epoch(order);
  int ten = 0;
  int twenty = 0;
  for (unsigned seed = 100; seed < 8100; ++seed) {
    std::mt19937 random(seed);
    Order reads;
    for (int read = 0; read < 24; ++read) reads.push_back(static_cast<EntryNumber>(1000 + random() % 3000));
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    const double bits = BitsOfBeginning(reads, epoch);
    ten += bits > 10;
    twenty += bits > 20;
  }
  EXPECT_LE(ten, 20);
  EXPECT_LE(twenty, 1);
}

// A few files make up half of what is drawn, as with a class that is rare and drawn often. Two runs of such a sampler
// have many files in common near their beginnings, and yet nothing to do with one another.
TEST_F(ReplayScoreTest, SamplersThatRepeatDoNotAgreeByTheFilesThatTheyLike) {
  const auto draw = [](unsigned seed) {
    std::mt19937 random(seed);
    Order order;
    for (int at = 0; at < 20'000; ++at) {
      order.push_back(static_cast<EntryNumber>(random() % 2 == 0 ? random() % 100 : 100 + random() % 20'000));
    }
    return order;
  };
  const Order recorded = draw(1);
  for (unsigned seed = 2; seed < 50; ++seed) {
    Order reads = First(draw(seed), 200);
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    EXPECT_LT(BitsOfBeginning(reads, Epoch(recorded)), 10) << seed;
  }
  Order same = First(recorded, 100);
  std::sort(same.begin(), same.end());
  same.erase(std::unique(same.begin(), same.end()), same.end());
  EXPECT_GT(BitsOfBeginning(same, Epoch(recorded)), 100);
}

TEST_F(ReplayScoreTest, CopiesOfOneSampleAreOne) {
  Order order;  // RepeatAugSampler: each three times at once
  for (const EntryNumber file : Shuffled(5, 10'000)) order.insert(order.end(), 3, file);
  Order reads;
  for (size_t at = 0; at < 60; at += 3) reads.push_back(order[at]);
  EXPECT_GT(BitsOfBeginning(reads, Epoch(order)), 100);
}

TEST_F(ReplayScoreTest, ReadsFromMidEpochAreNotItsBeginning) {
  const Order order = Shuffled(6, 30'000);
  EXPECT_LT(BitsOfBeginning(First(order, 20, 15'000), Epoch(order)), 0);
}

TEST_F(ReplayScoreTest, NothingIsSaidOfNothing) {
  EXPECT_EQ(BitsOfBeginning({}, Epoch(Shuffled(1))), 0);
  EXPECT_EQ(BitsOfBeginning(Order{5}, Epoch({})), 0);
  EXPECT_EQ(BitsOfBeginning(Order{5}, Epoch({5})), 0);
}

}  // namespace
}  // namespace augur
