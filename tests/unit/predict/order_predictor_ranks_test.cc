// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "samplers/dali_sampler.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// Jobs of several hosts, of which this one sees its own ranks.
class OrderPredictorRanksTest : public OrderPredictorTest {
 protected:
  OrderPredictorRanksTest() { samples_ = 6400; }

  static constexpr uint64_t kSeed = 0;
  static constexpr uint64_t kEpochs = 3;

  JobPlan PlanOfRanks(uint32_t world_size, const std::vector<uint32_t>& ranks) const {
    JobPlan plan = PlanOf(sampler_);
    plan.epochs = kEpochs;
    plan.ranks = world_size;
    plan.local_ranks = ranks;
    plan.workers = 2;
    plan.batch = 16;
    return plan;
  }
  // What the ranks read in all epochs that may have been computed.
  std::set<EntryNumber> FilesOfRanks(uint32_t world_size, const std::vector<uint32_t>& ranks) const {
    std::set<EntryNumber> files;
    for (uint64_t epoch = 0; epoch <= kEpochs + JobPredictor::kAhead; ++epoch) {
      const Order order = FilesOf(*train_, EpochOf(*sampler_, samples_, epoch));
      const size_t padded = (order.size() + world_size - 1) / world_size * world_size;
      for (size_t place = 0; place < padded; ++place) {
        if (std::ranges::count(ranks, place % world_size) > 0) files.insert(order[place % order.size()]);
      }
    }
    return files;
  }
  void ExpectNothingElseRead(uint32_t world_size, const std::vector<uint32_t>& ranks) const {
    const std::set<EntryNumber> files = FilesOfRanks(world_size, ranks);
    const std::set<EntryNumber> told = orders_.files_told();
    EXPECT_TRUE(std::ranges::includes(files, told))
        << told.size() << " files told, " << files.size() << " are of these ranks" << DescribeState();
  }

  const std::shared_ptr<const Sampler> sampler_ = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", kSeed));
};

struct HostRanks {
  uint32_t world_size;
  std::vector<uint32_t> ranks;
  const char* text;
};

class OrderPredictorOneHostTest : public OrderPredictorRanksTest, public testing::WithParamInterface<HostRanks> {};

// Only the files of this host's ranks are read ahead, from the first epoch on, and no epoch is lost.
TEST_P(OrderPredictorOneHostTest, OnlyItsRanksAreReadAhead) {
  const HostRanks& host = GetParam();
  for (const bool persistent : {false, true}) {
    TraceSimulation simulation(host.world_size + (persistent ? 100 : 0), false);
    JobPlan plan = PlanOfRanks(host.world_size, host.ranks);
    plan.persistent = persistent;
    simulation.AddJob(plan);
    Start(&simulation);
    Play(&simulation);
    ExpectPredicted(0.6, 0.97);
    EXPECT_NE(DescribeState().find(host.text), std::string::npos) << DescribeState();
    EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << DescribeState();
  }
  ExpectNothingElseRead(host.world_size, host.ranks);
}

INSTANTIATE_TEST_SUITE_P(Hosts, OrderPredictorOneHostTest,
                         testing::Values(HostRanks{2, {1}, "rank 1 of 2"}, HostRanks{4, {2}, "rank 2 of 4"},
                                         HostRanks{8, {0}, "rank 0 of 8"}, HostRanks{64, {40}, "rank 40 of 64"},
                                         HostRanks{8, {2, 3}, "ranks 2-3 of 8"},
                                         HostRanks{64, {16, 17, 18, 19, 20, 21, 22, 23}, "ranks 16-23 of 64"},
                                         HostRanks{6, {1, 4}, "ranks 1,4 of 6"}));

// A host of a large fleet reads few files in an epoch.
TEST_F(OrderPredictorRanksTest, OneOf512) {
  TraceSimulation simulation(512, false);
  JobPlan plan = PlanOfRanks(512, {301});
  plan.workers = 0;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_NE(DescribeState().find("rank 301 of 512"), std::string::npos) << DescribeState();
  ExpectNothingElseRead(512, {301});
}

// Its launcher has not named the rank, which begins behind the places at which all guesses are looked for.
TEST_F(OrderPredictorRanksTest, OneOf512ThatIsNotNamed) {
  TraceSimulation simulation(513, false);
  JobPlan plan = PlanOfRanks(512, {301});
  plan.workers = 0;
  plan.launch_told = false;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_NE(DescribeState().find("rank 301 of 512"), std::string::npos) << DescribeState();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 1U) << DescribeState();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << DescribeState();
  ExpectNothingElseRead(512, {301});
}

// Where set_epoch is not called, each epoch is the first one.
TEST_F(OrderPredictorRanksTest, ARankWithoutSetEpoch) {
  TraceSimulation simulation(41, false);
  JobPlan plan = PlanOfRanks(4, {3});
  plan.epochs = 4;
  plan.order = [first = plan.order](uint64_t) { return first(0); };
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_GE(share(2), 0.98) << DescribeState();
  EXPECT_GE(share(3), 0.98) << DescribeState();
  ExpectNothingElseRead(4, {3});
}

// All ranks are here, and begin one after the other: all of them are read ahead.
TEST_F(OrderPredictorRanksTest, AllRanksOfOneHost) {
  TraceSimulation simulation(42, false);
  simulation.AddJob(PlanOfRanks(8, {}));
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.9, 0.97);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << DescribeState();
}

// A job of one process that reads the places from `begin` to `end` of each epoch's order.
JobPlan PieceOf(const JobPlan& whole, std::ptrdiff_t begin, std::ptrdiff_t end) {
  JobPlan plan = whole;
  plan.order = [order = whole.order, begin, end](uint64_t epoch) {
    const Order files = order(epoch);
    return Order(files.begin() + begin, files.begin() + end);
  };
  plan.workers = 0;
  plan.epochs = 4;
  return plan;
}

// Readers of DALI, which shuffles once.
class OrderPredictorShardsTest : public OrderPredictorRanksTest {
 protected:
  void SetUp() override {
    OrderPredictorRanksTest::SetUp();
    auto known = std::make_shared<std::vector<KnownSampler>>(*known_);
    const size_t others = known->size();
    kDaliFamily.add_known(known.get());
    dali_ = known->at(others).sampler;
    known_ = std::move(known);
  }

  std::shared_ptr<const Sampler> dali_;
};

// A shard that is read again and again. Its end is found as the readers come to it.
TEST_F(OrderPredictorRanksTest, APieceThatIsReadAgainAndAgain) {
  TraceSimulation simulation(44, false);
  JobPlan plan = PieceOf(PlanOf(sampler_), 1600, 3200);
  plan.order = [order = plan.order](uint64_t) { return order(0); };
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_GE(share(0), 0.97) << DescribeState();
  EXPECT_GE(share(1), 0.97) << DescribeState();
  for (const size_t epoch : {2, 3}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << DescribeState();
  EXPECT_NE(DescribeState().find("places 1600 to 3199"), std::string::npos) << DescribeState();
  const std::set<EntryNumber> told = orders_.files_told();
  const Order files = plan.order(0);
  EXPECT_TRUE(std::ranges::includes(std::set<EntryNumber>(files.begin(), files.end()), told)) << told.size();
}

// The same with set_epoch: another order in each epoch, and the same places of it.
TEST_F(OrderPredictorRanksTest, APieceOfEachEpoch) {
  TraceSimulation simulation(45, false);
  simulation.AddJob(PieceOf(PlanOf(sampler_), 1600, 3200));
  Start(&simulation);
  Play(&simulation);
  EXPECT_GE(share(0), 0.97) << DescribeState();
  EXPECT_GE(share(1), 0.97) << DescribeState();
  for (const size_t epoch : {2, 3}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << DescribeState();
  EXPECT_NE(DescribeState().find("places 1600 to 3199"), std::string::npos) << DescribeState();
}

// A reader that goes on to the next shard in each epoch. Only at the end of the first one it is not known what follows.
TEST_F(OrderPredictorShardsTest, AReaderThatGoesOnToTheNextShard) {
  TraceSimulation simulation(46, false);
  JobPlan plan = PlanOf(dali_);
  plan.order = [order = plan.order](uint64_t epoch) {
    Order files = order(0);
    const auto begin = static_cast<std::ptrdiff_t>((epoch + 1) % 4 * 1600);
    return Order(files.begin() + begin, files.begin() + begin + 1600);
  };
  plan.workers = 0;
  plan.epochs = 6;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  for (const size_t epoch : {0, 1, 2, 3, 4, 5}) EXPECT_GE(share(epoch), 0.95) << "epoch " << epoch << DescribeState();
}

// The first piece begins as all do: its end is known once it was left.
TEST_F(OrderPredictorRanksTest, TheFirstPiece) {
  TraceSimulation simulation(47, false);
  simulation.AddJob(PieceOf(PlanOf(sampler_), 0, 2200));
  Start(&simulation);
  Play(&simulation);
  EXPECT_GE(share(0), 0.97) << DescribeState();
  for (const size_t epoch : {2, 3}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << DescribeState();
  EXPECT_NE(DescribeState().find("places 0 to 2199"), std::string::npos) << DescribeState();
}

// Ranks of workers that read a third of an epoch at once, and begin one after the other. No order is lost when ranks
// are added.
TEST_F(OrderPredictorRanksTest, RanksOfManyWorkersInAShortEpoch) {
  const std::vector<uint32_t> ranks = {16, 17, 18, 19, 20, 21, 22, 23};
  for (uint64_t seed = 48; seed < 56; ++seed) {
    TraceSimulation simulation(seed, seed % 2 == 0);
    JobPlan plan = PlanOfRanks(64, ranks);
    plan.batch = 8;
    plan.file_us = 1000;
    simulation.AddJob(plan);
    Start(&simulation);
    const uint64_t lost_before = statistics_.Snapshot()[Stat::kOrdersLost];
    Play(&simulation);
    EXPECT_NE(DescribeState().find("ranks 16-23 of 64"), std::string::npos) << "seed " << seed << DescribeState();
    EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], lost_before) << "seed " << seed << DescribeState();
    for (const size_t epoch : {1, 2})
      EXPECT_GE(share(epoch), 0.97) << "seed " << seed << ", epoch " << epoch << DescribeState();
  }
  ExpectNothingElseRead(64, ranks);
}

// The daemon sees no process, and one rank is here.
TEST_F(OrderPredictorRanksTest, ARankWhoseProcessesAreNotSeen) {
  TraceSimulation simulation(43, false);
  JobPlan plan = PlanOfRanks(4, {1});
  plan.visible = false;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.8, 0.97);
  EXPECT_NE(DescribeState().find("rank 1 of 4"), std::string::npos) << DescribeState();
  ExpectNothingElseRead(4, {1});
}

}  // namespace
}  // namespace augur
