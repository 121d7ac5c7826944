// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <random>
#include <string>

#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// Jobs whose READs are the files that the daemon fetches from the disk.
class HotDataTest : public OrderPredictorTest {
 protected:
  HotDataTest() {
    fetched_files_ = [this] { return fetched_.load(); };
  }

  // Tells what is seen before a time. Each READ is of a file from the disk.
  void Tell(uint64_t until_us) {
    while (told_ < accesses_.size() && accesses_[told_].time_us < until_us) {
      if (accesses_[told_].read) fetched_ = fetched_ + 1;
      PlayUntil(accesses_[told_].time_us + 1);
    }
  }
  JobPlan Unseeded(double hits) const {
    JobPlan plan;
    plan.epochs = 6;
    plan.hits = hits;
    plan.order = [this](uint64_t epoch) {
      std::mt19937_64 random(1000 + epoch);
      return FilesOf(*train_, RandomOrder(kSamples, random));
    };
    return plan;
  }

  std::atomic<double> fetched_ = 0;
};

// A second after the first read nothing is asked any more, and opens need not be seen.
TEST_F(HotDataTest, AnOrderOfHotDataIsNotLookedFor) {
  price_ = 0.001;
  TraceSimulation simulation(51, true);
  simulation.AddJob(Unseeded(1));
  Start(&simulation);
  Begin(&simulation);
  const uint64_t first_us = accesses_.front().time_us;
  Tell(first_us + 1'000'000);
  EXPECT_FALSE(orders_.opens_needed());
  EXPECT_NE(DescribeState().find("orders are not looked for: all files come from memory"), std::string::npos)
      << DescribeState();
  ASSERT_FALSE(predictor_->Reports().empty());
  EXPECT_EQ(predictor_->Reports()[0].state, OrderReport::State::kNotSought);
  const double asked = seconds_;
  Tell(TraceEnd());
  EXPECT_EQ(seconds_, asked);
  EXPECT_FALSE(orders_.opens_needed());
}

// By the statistics a file counts that is read from the disk, decoded, or taken from the decoded cache.
TEST_F(HotDataTest, TheStatisticsSayWhichFilesWereFetched) {
  fetched_files_ = {};
  const std::optional<Stat> nothing;
  for (const std::optional<Stat> fetched : {std::optional(Stat::kDiskReads), std::optional(Stat::kImagesDecoded),
                                            std::optional(Stat::kDecodedHits), nothing}) {
    TraceSimulation simulation(56, true);
    simulation.AddJob(Unseeded(0));
    Start(&simulation);
    Begin(&simulation);
    for (const uint64_t until_us = accesses_.front().time_us + 1'000'000; accesses_[told_].time_us < until_us;) {
      if (fetched) statistics_.Add(*fetched, 1);
      PlayUntil(accesses_[told_].time_us + 1);
    }
    EXPECT_EQ(orders_.opens_needed(), fetched.has_value());
  }
}

// The same reads from the disk are asked about in each epoch.
TEST_F(HotDataTest, AnOrderOfColdDataIsLookedFor) {
  price_ = 0.001;
  TraceSimulation simulation(51, true);
  simulation.AddJob(Unseeded(0));
  Start(&simulation);
  Begin(&simulation);
  Tell(accesses_.front().time_us + 1'000'000);
  const double asked = seconds_;
  Tell(TraceEnd());
  EXPECT_GT(seconds_, asked);
  EXPECT_TRUE(orders_.opens_needed());
  EXPECT_FALSE(DescribeState().empty());
  EXPECT_EQ(DescribeState().find("not looked for"), std::string::npos) << DescribeState();
}

// A job that reads from the disk is seen at once, from its first read on.
TEST_F(HotDataTest, AColdJobAfterAHotOneIsFound) {
  TraceSimulation simulation(52, true);
  JobPlan hot = Unseeded(1);
  hot.epochs = 2;
  simulation.AddJob(hot);
  JobPlan cold = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42)));
  cold.start_us = 60'000'000;
  simulation.AddJob(cold);
  Start(&simulation);
  Begin(&simulation);
  Tell(60'000'000);
  ASSERT_FALSE(orders_.opens_needed());
  share_.clear();
  Tell(TraceEnd());
  EXPECT_TRUE(orders_.opens_needed());
  EXPECT_NE(DescribeState().find("seed 42"), std::string::npos) << DescribeState();
  ExpectPredicted(0.9, 0.97);
}

// Memory runs short in the midst of a run: it is asked about again, and its next epochs are found.
TEST_F(HotDataTest, ARunThatTurnsColdIsFound) {
  TraceSimulation simulation(53, true);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42)));
  plan.epochs = 4;
  plan.order = [this, of_seed = plan.order](uint64_t epoch) {
    std::mt19937_64 random(epoch);
    return epoch < 2 ? FilesOf(*train_, RandomOrder(kSamples, random)) : of_seed(epoch - 2);
  };
  plan.hits = 0;
  simulation.AddJob(plan);
  Start(&simulation);
  Begin(&simulation);
  const auto third = std::ranges::find(reads_, uint64_t{2}, &TrueRead::epoch);
  ASSERT_NE(third, reads_.end());
  // Its READs are answered from memory at first.
  PlayUntil(third->time_us - 100'000);
  ASSERT_FALSE(orders_.opens_needed());
  Tell(TraceEnd());
  EXPECT_TRUE(orders_.opens_needed());
  EXPECT_GE(share(3), 0.97) << DescribeState();
}

// An order that was found while data was cold is followed on: that costs next to nothing.
TEST_F(HotDataTest, AKnownOrderIsFollowedOn) {
  TraceSimulation simulation(54, true);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42))));
  Start(&simulation);
  Begin(&simulation);
  Tell(accesses_[200].time_us);
  ASSERT_NE(DescribeState().find("as predicted"), std::string::npos) << DescribeState();
  PlayUntil(TraceEnd());
  EXPECT_TRUE(orders_.opens_needed());
  ExpectPredicted(0.8, 0.98);
}

// What the prefetch brings comes from memory, too. So data does not seem hot where an order ends that was followed: the
// job is kept, and with it which epoch comes.
TEST_F(HotDataTest, WhereAnOrderEndsTheJobIsKept) {
  TraceSimulation simulation(57, true);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42)));
  plan.epochs = 2;
  plan.order = [this, of_seed = plan.order](uint64_t epoch) {
    std::mt19937_64 random(epoch);
    return epoch == 0 ? of_seed(0) : FilesOf(*train_, RandomOrder(kSamples, random));
  };
  simulation.AddJob(plan);
  Start(&simulation);
  Begin(&simulation);
  Tell(accesses_[200].time_us);
  ASSERT_NE(DescribeState().find("as predicted"), std::string::npos) << DescribeState();
  const auto second = std::ranges::find(reads_, uint64_t{1}, &TrueRead::epoch);
  ASSERT_NE(second, reads_.end());
  PlayUntil(second->time_us + 1);
  Tell(second->time_us + 1'000'000);
  EXPECT_TRUE(orders_.opens_needed());
  EXPECT_EQ(DescribeState().find("not looked for"), std::string::npos) << DescribeState();
  EXPECT_EQ(DescribeState().find("has ended"), std::string::npos) << DescribeState();
}

// What the user says is held against hot reads, too.
TEST_F(HotDataTest, AHintWakes) {
  TraceSimulation simulation(55, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 1'000'003))));
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(accesses_.front().time_us + 1'000'000);
  ASSERT_FALSE(orders_.opens_needed());
  predictor_->AddHint({.sampler = MakeTorchSampler(FreshSeedRecipe("as hinted", 1'000'003)), .share = {}});
  predictor_->Flush();
  EXPECT_TRUE(orders_.opens_needed());
}

}  // namespace
}  // namespace augur
