// SPDX-License-Identifier: Apache-2.0
// What the search for an order may cost: seeds that are searched, and the budget of the tries.
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "predict/try_budget.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

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
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 0U) << DescribeState();
  PlayUntil(TraceEnd());
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 1U) << DescribeState();
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
  for (int i = 0; i < 30'000 && DescribeState().find("found by search") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_NE(DescribeState().find("seed 0x0016e360"), std::string::npos) << DescribeState();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(0), 0.8) << DescribeState();
  EXPECT_GE(share(1), 0.95) << DescribeState();
  EXPECT_GE(share(2), 0.99) << DescribeState();
  EXPECT_GE(share(3), 0.99) << DescribeState();
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
  for (int i = 0; i < 6000 && DescribeState().find(kWhy) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_NE(DescribeState().find(kWhy), std::string::npos) << DescribeState();
  // It holds for the next epoch, too.
  PlayUntil(TraceEnd());
  EXPECT_NE(DescribeState().find(kWhy), std::string::npos) << DescribeState();
  EXPECT_EQ(orders_.told(), 0U) << DescribeState();
}

}  // namespace
}  // namespace augur
