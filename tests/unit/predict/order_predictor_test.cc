// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

TEST_F(OrderPredictorTest, ALoopAfterManualSeed) {
  TraceSimulation simulation(1, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(DrawnSeedRecipe("truth", 42))));
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.95, 0.99);
  EXPECT_NE(DescribeState().find("seed"), std::string::npos) << DescribeState();
}

// Who looks at the status after the run is told what was found, until something else is.
TEST_F(OrderPredictorTest, AnIdentifiedOrderIsToldUntilTheNextOne) {
  TraceSimulation simulation(22, false);
  for (const uint64_t seed : {42U, 7U}) {
    JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", seed)));
    plan.epochs = 1;
    plan.start_us = seed == 42 ? 1'000'000 : 60'000'000;
    simulation.AddJob(plan);
  }
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(60'000'000);
  EndJobs();
  std::vector<std::pair<std::string, std::string>> told = predictor_->Describe();
  ASSERT_EQ(told.size(), 1U) << DescribeState();
  EXPECT_EQ(told[0].first, "predicted");
  EXPECT_NE(told[0].second.find("seed 42"), std::string::npos) << DescribeState();
  EXPECT_NE(told[0].second.find("of the reads so far as predicted"), std::string::npos) << DescribeState();
  PlayUntil(TraceEnd());
  EXPECT_EQ(DescribeState().find("seed 42"), std::string::npos) << DescribeState();
  EndJobs();
  EXPECT_NE(DescribeState().find("seed 7"), std::string::npos) << DescribeState();
}

TEST_F(OrderPredictorTest, FourRanks) {
  TraceSimulation simulation(2, false);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 0)));
  plan.ranks = 4;
  plan.workers = 2;
  plan.batch = 16;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.9, 0.97);
}

TEST_F(OrderPredictorTest, ALoaderWithAGenerator) {
  TraceSimulation simulation(3, false);
  JobPlan plan = PlanOf(MakeTorchSampler(LoaderGeneratorRecipe("truth", 7)));
  plan.persistent = true;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.9, 0.9);
}

TEST_F(OrderPredictorTest, TheOrderOfTheList) {
  TraceSimulation simulation(4, false);
  JobPlan plan = PlanOf((*known_)[0].sampler);
  plan.workers = 0;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.95, 0.98);
}

TEST_F(OrderPredictorTest, AWeightedSamplerIsLeftAlone) {
  TraceSimulation simulation(5, false);
  JobPlan plan;
  plan.epochs = 2;
  plan.order = [this](uint64_t epoch) {
    std::mt19937_64 random(epoch);
    Order files(kSamples);
    for (EntryNumber& file : files) file = train_->files()[random() % kSamples];
    return files;
  };
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_EQ(orders_.told(), 0U) << DescribeState();
}

TEST_F(OrderPredictorTest, FourJobsOnOneMount) {
  TraceSimulation simulation(6, false);
  for (const uint64_t seed : {0U, 1U, 42U, 7U}) {
    JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", seed)));
    plan.workers = 2;
    plan.start_us = 1'000'000 + seed * 10'000;
    simulation.AddJob(plan);
  }
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.7, 0.7);  // jobs of different speeds drift apart until they are merged anew
}

// A training that comes after processes that read a few files each (xargs) is understood as if it came alone.
TEST_F(OrderPredictorTest, ProcessesThatReadAFewFilesEach) {
  TraceSimulation simulation(23, false);
  JobPlan few = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42)));
  few.order = [all = few.order](uint64_t epoch) {
    Order files = all(epoch);
    files.resize(32);
    return files;
  };
  few.epochs = 1;
  few.workers = 0;
  for (uint64_t second = 1; second <= 40; ++second) {
    few.start_us = second * 1'000'000;
    simulation.AddJob(few);
  }
  JobPlan training = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 1234)));
  training.start_us = 60'000'000;
  simulation.AddJob(training);
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(50'000'000);
  const uint64_t found = statistics_.Snapshot()[Stat::kOrdersFound];
  EXPECT_GE(found, 1U);
  PlayUntil(TraceEnd());
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], found + 1) << DescribeState();
  EXPECT_GE(share(1), 0.98) << DescribeState();
  EXPECT_GE(share(2), 0.98) << DescribeState();
}

// As it is when their orders are known: the page cache serves most reads, and only opens are told, of nobody.
TEST_F(OrderPredictorTest, FourJobsThatThePageCacheServes) {
  TraceSimulation simulation(16, true);
  for (const uint64_t seed : {0U, 1U, 42U, 7U}) {
    JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", seed)));
    plan.workers = 1;
    plan.hits = 0.8;
    plan.start_us = 1'000'000 + seed * 10'000;
    simulation.AddJob(plan);
  }
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.6, 0.7);
  EXPECT_LE(statistics_.Snapshot()[Stat::kOrdersLost], 4U) << DescribeState();
}

// A look at something else before the first samples, and one in their midst: the list that has all the others is found.
TEST_F(OrderPredictorTest, FilesOfSomethingElseAmongTheFirstReads) {
  SampleLists lists(opened_);
  const auto val = lists.Make("torchvision ImageFolder", "val");
  ASSERT_TRUE(val.ok());
  TraceSimulation simulation(21, false);
  JobPlan plan;
  plan.epochs = 2;
  plan.workers = 1;
  plan.order = [&](uint64_t epoch) {
    Order files = FilesOf(*train_, EpochOf(*MakeTorchSampler(FreshSeedRecipe("truth", 1234)), kSamples, epoch));
    files.insert(files.begin(), (*val)->files()[7]);
    files.insert(files.begin() + 20, (*val)->files()[50]);
    return files;
  };
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.9, 0.95);
}

// The first opens are nobody's, until a READ says who reads: they are found to be the same job's.
TEST_F(OrderPredictorTest, OpensBeforeTheFirstReadAreOfTheJobThatReadsOn) {
  for (const uint64_t seed : {0U, 1U, 2U, 3U}) {
    TraceSimulation simulation(30 + seed, true);
    JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", seed)));
    plan.hits = 0.95;
    simulation.AddJob(plan);
    Start(&simulation);
    const uint64_t told = orders_.told();
    Play(&simulation);
    ExpectPredicted(0.9, 0.98);
    // Three epochs of one job, not two that are merged again and again.
    EXPECT_LE(orders_.told() - told, 12U) << DescribeState();
    EXPECT_EQ(predictor_->Describe().size(), 1U) << DescribeState();
  }
}

// As after the loss of a model: the script goes back to its last checkpoint, in the same processes.
TEST_F(OrderPredictorTest, AJobThatGoesBackWithinItsEpochIsFollowed) {
  TraceSimulation simulation(29, false);
  // No seed of the dictionary, but what follows from one: it is not among those that are tried in mid-epoch.
  const auto sampler = MakeTorchSampler(DrawnSeedRecipe("truth", 42));
  JobPlan plan = PlanOf(sampler);
  plan.epochs = 2;
  plan.workers = 0;
  plan.order = [all = plan.order](uint64_t epoch) {
    Order files = all(epoch);
    if (epoch > 0) return files;
    const Order again(files.begin() + 300, files.end());
    files.resize(900);
    files.insert(files.end(), again.begin(), again.end());
    return files;
  };
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  EXPECT_GE(share(0), 0.8) << DescribeState();
  EXPECT_GE(share(1), 0.95) << DescribeState();
}

// A script that does not call set_epoch: its second epoch shows it, and those after it are known beforehand.
TEST_F(OrderPredictorTest, AnEpochThatIsTakenAgainAndAgainIsLostOnce) {
  TraceSimulation simulation(11, false);
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("truth", 42));
  JobPlan plan = PlanOf(sampler);
  plan.order = [this, sampler](uint64_t) { return FilesOf(*train_, EpochOf(*sampler, kSamples, 0)); };
  plan.epochs = 5;
  simulation.AddJob(plan);
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.9, 0.9);
  for (const size_t epoch : {2, 3, 4}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << DescribeState();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 1U) << DescribeState();
}

}  // namespace
}  // namespace augur
