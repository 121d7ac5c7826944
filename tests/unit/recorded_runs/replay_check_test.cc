// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_check.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "unit/predict_evidence/loader_reads.h"
#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

constexpr double kBits = 20;

class ReplayCheckTest : public ReplayTest {
 protected:
  static Order InOrder(uint32_t count) {
    Order order(count);
    std::iota(order.begin(), order.end(), EntryNumber{100});
    return order;
  }
  // Files in the order in which so many workers read them.
  static Order ReadBy(const Order& order, size_t workers, size_t batch, std::mt19937_64& random) {
    Order files;
    const LoaderPlan plan{.workers = workers, .batch = batch};
    for (const LoaderRead& read : LoaderReads(static_cast<uint32_t>(order.size()), plan, random)) {
      files.push_back(order[read.place]);
    }
    return files;
  }
  // The first reads of an epoch.
  static EpochStart Begun(const Order& order, const LoaderPlan& plan, size_t count, std::mt19937_64& random) {
    EpochStart epoch;
    std::map<uint32_t, std::vector<FirstRead>> streams;
    for (const LoaderRead& read : LoaderReads(static_cast<uint32_t>(order.size()), plan, random)) {
      if (count-- == 0) break;
      streams[read.stream].push_back({.file = order[read.place]});
    }
    for (auto& [id, reads] : streams) {
      EpochStream& stream = epoch.streams.emplace_back();
      stream.id = id;
      stream.reads = std::move(reads);
    }
    return epoch;
  }
  static Order SeenOf(const EpochStart& epoch) {
    Order files;
    for (const EpochStream& stream : epoch.streams) {
      for (const FirstRead& read : stream.reads) files.push_back(read.file);
    }
    return files;
  }
  // Classes one after the other, each shuffled.
  static Order ClassByClass(uint32_t classes, uint32_t each, std::mt19937_64& random) {
    Order order = InOrder(classes * each);
    for (auto begin = order.begin(); begin != order.end(); begin += each) std::shuffle(begin, begin + each, random);
    return order;
  }
};

TEST_F(ReplayCheckTest, AListThatIsReadInItsOrderIsToldHoweverManyRead) {
  std::mt19937_64 random(1);
  for (const uint32_t count : {40U, 480U, 3500U, 20'000U}) {
    const Order list = InOrder(count);
    EXPECT_TRUE(IsInListOrder(list)) << count;
    for (const size_t workers : {1U, 2U, 4U}) EXPECT_TRUE(IsInListOrder(ReadBy(list, workers, 32, random))) << count;
    Order one_off = list;
    std::swap(one_off[10], one_off[11]);
    EXPECT_TRUE(IsInListOrder(one_off)) << count;
    Order shuffled = list;
    for (int i = 0; i < 20; ++i) {
      std::ranges::shuffle(shuffled, random);
      EXPECT_FALSE(IsInListOrder(shuffled)) << count;
    }
  }
  EXPECT_FALSE(IsInListOrder({}));
}

TEST_F(ReplayCheckTest, ARunThatComesAgainIsAReplay) {
  std::mt19937_64 random(2);
  for (const size_t workers : {1U, 2U, 4U, 8U}) {
    for (const double unseen : {0.0, 0.3}) {
      const Order order = Shuffled(3, 3500);
      const LoaderPlan plan{.workers = workers, .unseen = unseen};
      const EpochStart epoch = Begun(order, plan, 24, random);
      EXPECT_TRUE(IsReplay(EpochOrder(order), epoch, SeenOf(epoch))) << workers << " " << unseen;
    }
  }
}

// So many workers are told by so many reads.
TEST_F(ReplayCheckTest, ARunOfUnknownProcessesIsAReplayOnceTheReadsCanTell) {
  std::mt19937_64 random(4);
  for (const auto& [workers, reads] : {std::pair(1, 24), std::pair(4, 24), std::pair(6, 48)}) {
    const Order order = Shuffled(4, 3500);
    for (const double unseen : {0.0, 0.3}) {
      const LoaderPlan plan{.workers = static_cast<size_t>(workers), .unseen = unseen, .named = false};
      const EpochStart epoch = Begun(order, plan, reads, random);
      EXPECT_TRUE(IsReplay(EpochOrder(order), epoch, SeenOf(epoch))) << workers << " " << unseen;
    }
  }
}

// The order that is recorded is random within its parts, and so is the one that is read: all files are where they are
// expected, but for their order.
TEST_F(ReplayCheckTest, TheSamePartsInAnotherOrderAreNoReplay) {
  std::mt19937_64 random(5);
  for (const uint32_t each : {50U, 100U, 500U}) {
    for (const size_t workers : {1U, 2U, 4U, 8U}) {
      for (const bool named : {true, false}) {
        for (const size_t reads : {24U, 48U, 96U}) {
          const Order recorded = ClassByClass(3500 / each, each, random);
          const Order now = ClassByClass(3500 / each, each, random);
          const EpochStart epoch = Begun(now, {.workers = workers, .named = named}, reads, random);
          const Order seen = SeenOf(epoch);
          // By the files alone it would be one.
          if (each <= 100 && workers <= 2 && reads <= 48) {
            EXPECT_GT(BitsOfBeginning(seen, {.files = recorded.size(), .head = recorded}), kBits);
          }
          EXPECT_FALSE(IsReplay(EpochOrder(recorded), epoch, seen))
              << each << " " << workers << " " << named << " " << reads;
        }
      }
    }
  }
}

// A scan and then a shuffle, in one pass of the record: whoever scans reads as in it, and says nothing of the shuffle.
TEST_F(ReplayCheckTest, AScanIsNoSignOfWhatCameAfterIt) {
  std::mt19937_64 random(6);
  for (const size_t workers : {1U, 2U, 4U}) {
    Order recorded = ReadBy(InOrder(480), workers, 32, random);
    const Order rest = Shuffled(7, 3000);
    for (const EntryNumber file : rest) recorded.push_back(file + 10'000);
    const EpochStart epoch = Begun(InOrder(480), {.workers = workers}, 32, random);
    EXPECT_FALSE(IsReplay(EpochOrder(recorded), epoch, SeenOf(epoch))) << workers;
  }
}

}  // namespace
}  // namespace augur
