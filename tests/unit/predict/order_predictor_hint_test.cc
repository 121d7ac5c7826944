// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "predict/hints.h"
#include "predict/next_epochs.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

class OrderPredictorHintTest : public OrderPredictorTest {
 protected:
  static Result<SamplerDescription> SpecOf(const std::vector<std::string>& words) {
    const Result<SamplerHint> hint = ParseSamplerHint(words);
    if (!hint.ok()) return hint.status();
    return ResolveSamplerHint(*hint);
  }
  void Hint(const std::vector<std::string>& words) {
    Result<SamplerDescription> spec = SpecOf(words);
    ASSERT_TRUE(spec.ok()) << spec.status().text();
    predictor_->AddHint(std::move(spec).value());
  }
};

TEST_F(OrderPredictorHintTest, ARightHint) {
  TraceSimulation simulation(8, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 987'654))));
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectPredicted(0.95, 0.99);
  EXPECT_NE(DescribeState().find("as hinted"), std::string::npos) << DescribeState();
}

// The prefetch follows an order that the user gave, and gives it up: no processor time is spent until then, and the
// reads that were made meanwhile tell the order.
TEST_F(OrderPredictorHintTest, NoOrderIsLookedForWhileAGivenOneIsFollowed) {
  TraceSimulation simulation(12, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", 0))));
  price_ = 1e-6;
  orders_.SetFollowsGiven(true);
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(accesses_[accesses_.size() / 6].time_us);
  EXPECT_EQ(seconds_.load(), 0);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 0U);
  orders_.SetFollowsGiven(false);
  PlayUntil(TraceEnd());
  EXPECT_GT(seconds_.load(), 0);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersFound], 1U) << DescribeState();
  ASSERT_GE(share_.size(), 2U);
  EXPECT_GE(share(1), 0.99) << DescribeState();
}

TEST_F(OrderPredictorHintTest, ARightHintWhoseEpochsAreTakenInTwosIsKept) {
  TraceSimulation simulation(10, false);
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("truth", 987'654));
  JobPlan plan = PlanOf(sampler);
  plan.order = [this, sampler](uint64_t epoch) { return FilesOf(*train_, EpochOf(*sampler, kSamples, 2 * epoch)); };
  simulation.AddJob(plan);
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectPredicted(0.9, 0.98);
  EXPECT_EQ(DescribeState().find("agree with it"), std::string::npos) << DescribeState();
  EXPECT_NE(DescribeState().find("2 of its epochs for each"), std::string::npos) << DescribeState();
}

// A script that does not call set_epoch: its second epoch shows it, and those after it are known beforehand.
TEST_F(OrderPredictorHintTest, ARightHintWhoseEpochIsTakenAgainAndAgainIsLostOnce) {
  TraceSimulation simulation(11, false);
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("truth", 987'654));
  JobPlan plan = PlanOf(sampler);
  plan.order = [this, sampler](uint64_t) { return FilesOf(*train_, EpochOf(*sampler, kSamples, 0)); };
  plan.epochs = 5;
  simulation.AddJob(plan);
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectPredicted(0.9, 0.9);
  for (const size_t epoch : {2, 3, 4}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << DescribeState();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 1U) << DescribeState();
  EXPECT_EQ(DescribeState().find("agree with it"), std::string::npos) << DescribeState();
}

// In the midst of the epoch that was found before, where it is the hinted one and "that one again and again" as well:
// the former goes on with the next epoch.
TEST_F(OrderPredictorHintTest, InItsMidstAnEpochIsNotTakenForOneThatComesAgainAndAgain) {
  Result<SamplerDescription> spec = SpecOf({"--sampler", "distributed", "--seed", "987654"});
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  Hints hints;
  hints.Add(std::move(spec).value(), {});
  const Guess guess = hints.Guesses().at(0);
  IdentifiedOrder found;
  found.list = train_;
  found.guess = guess;
  found.order = std::make_shared<const EpochOrder>(FilesOf(*train_, EpochOf(*guess.sampler, kSamples, guess.epoch)));
  const Order& files = found.order->files();
  EpochStart mid_epoch;
  mid_epoch.job = 1;
  EpochStream& stream = mid_epoch.streams.emplace_back();
  stream.id = 1;
  for (size_t i = 610; i < 650; ++i) stream.reads.push_back({.file = files[i]});
  stream.read_count = stream.reads.size();
  std::vector<CandidateScorer> tests;
  tests.emplace_back(train_, mid_epoch);
  const IdentifiedOrder again = hints.Answer(std::move(tests), GuessesAfter(found, {})).value_or(IdentifiedOrder());
  EXPECT_EQ(again.begin, 610U);
  EXPECT_EQ(again.guess.sampler, guess.sampler);
  EXPECT_EQ(again.guess.epoch, guess.epoch);
}

TEST_F(OrderPredictorHintTest, AWrongHintIsDropped) {
  TraceSimulation simulation(9, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 1234))));
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectPredicted(0.9, 0.98);
  EXPECT_EQ(DescribeState().find("as hinted"), std::string::npos) << DescribeState();
}

}  // namespace
}  // namespace augur
