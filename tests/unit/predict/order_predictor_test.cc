// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <random>

#include "predict/try_budget.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

TEST_F(OrderPredictorTest, ALoopAfterManualSeed) {
  TraceSimulation simulation(1, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(DrawnSeedRecipe("truth", 42))));
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.95, 0.99);
  EXPECT_NE(Told().find("seed"), std::string::npos) << Told();
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
  ASSERT_EQ(told.size(), 1U) << Told();
  EXPECT_EQ(told[0].first, "predicted");
  EXPECT_NE(told[0].second.find("seed 42"), std::string::npos) << Told();
  EXPECT_NE(told[0].second.find("of the reads so far as predicted"), std::string::npos) << Told();
  PlayUntil(TraceEnd());
  EXPECT_EQ(Told().find("seed 42"), std::string::npos) << Told();
  EndJobs();
  EXPECT_NE(Told().find("seed 7"), std::string::npos) << Told();
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
  EXPECT_EQ(orders_.told(), 0U) << Told();
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
  ExpectPredicted(0.7, 0.7);  // the lanes of jobs of different speeds drift apart until they are merged anew
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
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], found + 1) << Told();
  EXPECT_GE(share(1), 0.98) << Told();
  EXPECT_GE(share(2), 0.98) << Told();
}

// The tries for all jobs together are bounded: one that has cost too much is paid for by those who come next.
TEST_F(OrderPredictorTest, NothingIsAskedBeyondTheBudgetOfAllJobs) {
  TraceSimulation simulation(25, false);
  for (const auto& [second, seed] : {std::pair(1U, 0U), std::pair(30U, 42U), std::pair(600U, 7U)}) {
    JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", seed)));
    plan.epochs = 1;
    plan.start_us = second * uint64_t{1'000'000};
    if (second == 1) {  // one that nobody understands
      plan.order = [this](uint64_t) {
        std::mt19937_64 random(26);
        return FilesOf(*train_, RandomOrder(kSamples, random));
      };
    }
    simulation.AddJob(plan);
  }
  Start(&simulation);
  Begin(&simulation);
  price_ = 2 * TryBudget::kFullSeconds;
  PlayUntil(25'000'000);
  price_ = 0;
  PlayUntil(500'000'000);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 0U) << Told();
  PlayUntil(TraceEnd());
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 1U) << Told();
}

// A seed that nobody would guess: all of them are searched, this one is near the beginning. The epoch after it is
// found to be seed + 1, and from then on all are known.
TEST_F(OrderPredictorTest, ASeedIsFoundBySearch) {
  known_ = std::make_shared<const std::vector<KnownSampler>>(known_->begin(), known_->begin() + 1);
  TraceSimulation simulation(24, false);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 1'500'000)));
  plan.epochs = 4;
  simulation.AddJob(plan);
  idle_class_ = false;  // a machine that runs tests has no idle core
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(accesses_[200].time_us);
  // The trace stands still while it is searched.
  for (int i = 0; i < 30'000 && Told().find("found by search") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_NE(Told().find("seed 0x0016e360"), std::string::npos) << Told();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(0), 0.8) << Told();
  EXPECT_GE(share(1), 0.95) << Told();
  EXPECT_GE(share(2), 0.99) << Told();
  EXPECT_GE(share(3), 0.99) << Told();
}

// A run whose order has no seed costs the idle cores no more than its allowance, and the status says so.
TEST_F(OrderPredictorTest, ASearchEndsWhenTheRunHasTakenItsCoreSeconds) {
  TraceSimulation simulation(31, false);
  JobPlan plan;
  plan.epochs = 2;
  plan.order = [this](uint64_t epoch) {
    std::mt19937_64 random(32 + epoch);
    return FilesOf(*train_, RandomOrder(kSamples, random));
  };
  simulation.AddJob(plan);
  idle_class_ = false;  // a machine that runs tests has no idle core
  search_core_seconds_max_ = 0.5;
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(accesses_[200].time_us);
  constexpr std::string_view kWhy = "not searched for any more: the searches of this run have taken 0.5 core-seconds";
  for (int i = 0; i < 6000 && Told().find(kWhy) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_NE(Told().find(kWhy), std::string::npos) << Told();
  // It holds for the next epoch, too.
  PlayUntil(TraceEnd());
  EXPECT_NE(Told().find(kWhy), std::string::npos) << Told();
  EXPECT_EQ(orders_.told(), 0U) << Told();
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
  EXPECT_LE(statistics_.Snapshot()[Stat::kOrdersLost], 4U) << Told();
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
    // Three epochs of one lane, not two that are merged again and again.
    EXPECT_LE(orders_.told() - told, 12U) << Told();
    EXPECT_EQ(predictor_->Describe().size(), 1U) << Told();
  }
}

// What nobody can compute is kept, and known when the run comes again; also where the mount ends with the script.
TEST_F(OrderPredictorTest, AnOrderThatIsNotUnderstoodIsKnownTheSecondTime) {
  std::mt19937_64 random(17);
  std::vector<Order> epochs(2, Order(kSamples));
  for (Order& epoch : epochs) {
    for (EntryNumber& file : epoch) file = train_->files()[random() % kSamples];
  }
  const std::string folder = folder_ + "/replay";
  for (const bool again : {false, true}) {
    TraceSimulation simulation(18, false);
    JobPlan plan;
    plan.epochs = epochs.size();
    plan.order = [&epochs](uint64_t epoch) { return epochs[epoch]; };
    simulation.AddJob(plan);
    Start(&simulation, folder);
    if (again) {
      Play(&simulation);
      ExpectPredicted(0.9, 0.95);
      EXPECT_NE(Told().find("recorded run run-"), std::string::npos) << Told();
      EXPECT_NE(Told().find("; epoch 1 of it; 2 epochs predicted so far; "), std::string::npos) << Told();
      EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << Told();
    } else {
      PlayToTheUnmount(&simulation, 200);
      EXPECT_EQ(orders_.told(), 0U);
    }
  }
}

// A run that was broken off in its first epoch, and comes again twice: only the whole one is worth to be known by.
TEST_F(OrderPredictorTest, AnEpochThatIsBrokenOffIsNotRemembered) {
  std::mt19937_64 random(19);
  Order whole(kSamples);
  for (EntryNumber& file : whole) file = train_->files()[random() % kSamples];
  const std::string folder = folder_ + "/replay";
  for (int run = 0; run < 3; ++run) {
    TraceSimulation simulation(20, false);
    JobPlan plan;
    plan.epochs = 1;
    plan.order = [&](uint64_t) { return run > 0 ? whole : Order(whole.begin(), whole.begin() + kSamples * 3 / 5); };
    simulation.AddJob(plan);
    Start(&simulation, folder);
    if (run < 2) {
      PlayToTheUnmount(&simulation, 200);
    } else {
      Play(&simulation);
      ExpectPredicted(0.9, 0.9);
    }
  }
}

// A sampler with replacement may draw more than the list has; what it draws beyond is of the same epoch.
TEST_F(OrderPredictorTest, AnEpochThatIsLongerThanTheListIsKeptWhole) {
  std::mt19937_64 random(23);
  std::vector<Order> epochs(3, Order(kSamples * 7 / 5));
  for (Order& epoch : epochs) {
    for (EntryNumber& file : epoch) file = train_->files()[random() % (kSamples / 2)];
  }
  const std::string folder = folder_ + "/replay";
  for (int run = 0; run < 2; ++run) {
    TraceSimulation simulation(24, false);
    JobPlan plan;
    plan.order = [&epochs](uint64_t epoch) { return epochs[epoch]; };
    simulation.AddJob(plan);
    Start(&simulation, folder);
    Play(&simulation);
  }
  ExpectPredicted(0.9, 0.98);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << Told();
}

// The rest of an epoch is recorded where there is room for it: a record is never more than can be loaded again.
// Each seed is a test of its own: two runs of 13 epochs are minutes under the thread sanitizer.
class LongRecordTest : public OrderPredictorTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(LongRecordTest, AnEpochTooManyDoesNotSpoilTheRecord) {
  // 1,300 files in the store, so 20,800 reads are recorded: 12 epochs and the beginning of one more, but not its rest
  // (where the last epoch looks as if it began anew, as it does with these seeds).
  std::mt19937_64 random(GetParam());
  std::vector<Order> epochs(13, Order(1620));
  for (Order& epoch : epochs) {
    for (EntryNumber& file : epoch) file = train_->files()[random() % (kSamples / 2)];
  }
  const std::string folder = folder_ + "/replay";
  for (int run = 0; run < 2; ++run) {
    TraceSimulation simulation(28, false);
    JobPlan plan;
    plan.epochs = epochs.size();
    plan.order = [&epochs](uint64_t epoch) { return epochs[epoch]; };
    simulation.AddJob(plan);
    Start(&simulation, folder);
    Play(&simulation);
  }
  for (size_t epoch = 0; epoch < 12; ++epoch) EXPECT_GE(share(epoch), 0.9) << "epoch " << epoch << Told();
}
INSTANTIATE_TEST_SUITE_P(Seeds, LongRecordTest, testing::Values(28U, 29U, 30U));

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
  EXPECT_GE(share(0), 0.8) << Told();
  EXPECT_GE(share(1), 0.95) << Told();
}

// Of a run that is recognised and goes on longer, the beginning is still known the next time.
TEST_F(OrderPredictorTest, ARunThatGoesOnLongerKeepsItsRecord) {
  std::mt19937_64 random(19);
  std::vector<Order> epochs(3, Order(kSamples));
  for (Order& epoch : epochs) {
    for (EntryNumber& file : epoch) file = train_->files()[random() % kSamples];
  }
  const std::string folder = folder_ + "/replay";
  for (const uint64_t count : {2U, 3U, 2U}) {
    TraceSimulation simulation(20, false);
    JobPlan plan;
    plan.epochs = count;
    plan.order = [&epochs](uint64_t epoch) { return epochs[epoch]; };
    simulation.AddJob(plan);
    Start(&simulation, folder);
    Play(&simulation);
    EndJobs();
  }
  ExpectPredicted(0.9, 0.9);
}

TEST_F(OrderPredictorTest, ARecordedRunIsRecognised) {
  std::mt19937_64 random(7);
  std::vector<Order> epochs(3);
  for (Order& epoch : epochs) epoch = FilesOf(*train_, RandomOrder(kSamples, random));
  const std::string folder = folder_ + "/replay";
  {
    auto store = ReplayStore::Open(folder, opened_->summary());
    ASSERT_TRUE(store.ok()) << store.status().text();
    augur::Run run;
    run.finding = "seen before";
    run.epochs = epochs;
    ASSERT_TRUE((*store)->Save(ReplayStore::NewName(), run).ok());
  }
  TraceSimulation simulation(7, false);
  JobPlan plan;
  plan.order = [&epochs](uint64_t epoch) { return epochs[epoch]; };
  simulation.AddJob(plan);
  Start(&simulation, folder);
  Play(&simulation);
  ExpectPredicted(0.9, 0.98);
  EXPECT_NE(Told().find("recorded run"), std::string::npos) << Told();
}

// The validation set is read in the same order by every run: it does not say that its training comes as in that one.
TEST_F(OrderPredictorTest, APassInTheOrderOfTheListIsNoSignOfARecordedRun) {
  std::mt19937_64 random(8);
  const std::string folder = folder_ + "/replay";
  SampleLists lists(opened_);
  const auto val = lists.Make("torchvision ImageFolder", "val");
  ASSERT_TRUE(val.ok()) << val.status().text();
  {
    auto store = ReplayStore::Open(folder, opened_->summary());
    ASSERT_TRUE(store.ok()) << store.status().text();
    augur::Run run;
    run.epochs = {(*val)->files(), FilesOf(*train_, RandomOrder(kSamples, random))};
    ASSERT_TRUE((*store)->Save(ReplayStore::NewName(), run).ok());
  }
  TraceSimulation simulation(8, false);
  JobPlan plan;
  plan.order = [&](uint64_t) { return (*val)->files(); };
  plan.epochs = 1;
  plan.workers = 0;
  simulation.AddJob(plan);
  Start(&simulation, folder);
  Play(&simulation);
  EXPECT_EQ(Told().find("recorded run"), std::string::npos) << Told();
  EXPECT_NE(Told().find("in the order of the list"), std::string::npos) << Told();
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
  for (const size_t epoch : {2, 3, 4}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << Told();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 1U) << Told();
}

}  // namespace
}  // namespace augur
