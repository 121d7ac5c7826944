// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/mutex.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// An OrderPredictor whose thread can be stopped, so that its queue runs full.
class FullQueueTest : public OrderPredictorTest {
 protected:
  static constexpr size_t kAccessesMax = 64;

  FullQueueTest() {
    accesses_max_ = kAccessesMax;
    fetched_files_ = [this] {
      const MutexLock lock(mu_);
      waits_ = held_;
      changed_.NotifyAll();
      while (held_) changed_.Wait(mu_);
      waits_ = false;
      return fetched_ += 1000;
    };
  }

  // Tells so many accesses while the thread does nothing. Those that the queue has no room for are dropped.
  void TellToTheHeld(size_t count) {
    {
      const MutexLock lock(mu_);
      held_ = true;
      while (!waits_) changed_.Wait(mu_);
    }
    for (size_t i = 0; i < count; ++i) TellNext();
    {
      const MutexLock lock(mu_);
      held_ = false;
      changed_.NotifyAll();
    }
    predictor_->Flush();
  }
  uint64_t dropped() const { return statistics_.Get(Stat::kAccessesDropped); }

 private:
  Mutex mu_;
  CondVar changed_;
  bool held_ AUGUR_GUARDED_BY(mu_) = false;
  bool waits_ AUGUR_GUARDED_BY(mu_) = false;
  double fetched_ AUGUR_GUARDED_BY(mu_) = 0;
};

// What has no room is counted. The order is found again behind the gap.
TEST_F(FullQueueTest, AnOrderIsKnownAgainBehindTheGap) {
  TraceSimulation simulation(71, true);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("torch", 42, 1)));
  plan.epochs = 3;
  simulation.AddJob(plan);
  Start(&simulation);
  Begin(&simulation);
  while (counted_ < kSamples / 3) PlayUntil(accesses_[told_].time_us + 1);
  ASSERT_GT(orders_.told(), 0U) << DescribeState();
  EXPECT_EQ(dropped(), 0U);
  TellToTheHeld(kAccessesMax + 500);
  EXPECT_EQ(dropped(), 500U);
  PlayUntil(TraceEnd());
  EXPECT_EQ(dropped(), 500U);
  EXPECT_GE(share(1), 0.9) << DescribeState();
  EXPECT_GE(share(2), 0.9) << DescribeState();
}

// An epoch of which some was not seen is no record of a run: its order has a hole.
TEST_F(FullQueueTest, AnEpochWithAGapIsNotRecorded) {
  std::mt19937_64 random(72);
  const Order files = FilesOf(*train_, RandomOrder(kSamples, random));
  const std::string folder = folder_ + "/replay";
  for (const bool gap : {true, false}) {
    for (int run = 0; run < 2; ++run) {
      TraceSimulation simulation(72, false);
      JobPlan plan;
      plan.epochs = 1;
      plan.workers = 0;
      plan.order = [&files](uint64_t) { return files; };
      simulation.AddJob(plan);
      Start(&simulation, folder);
      Begin(&simulation);
      while (counted_ < kSamples / 3) PlayUntil(accesses_[told_].time_us + 1);
      if (gap) TellToTheHeld(kAccessesMax + 20);
      PlayUntil(TraceEnd());
      const bool known = DescribeState().find("recorded run") != std::string::npos;
      EXPECT_EQ(known, !gap && run == 1) << DescribeState();
      EndJobs();
    }
  }
}

}  // namespace
}  // namespace augur
