// SPDX-License-Identifier: Apache-2.0
#include "predict/order_handover.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "control/lasting_orders.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// No framework's, and no seed that people give.
constexpr uint64_t kRareSeed = 3'141'592'653;

// A daemon dies in the midst of an epoch, and another one goes on with the mount.
class OrderHandoverTest : public OrderPredictorTest {
 protected:
  OrderHandoverTest() {
    lasting_ = texts_.get();
    search_core_seconds_max_ = 0;  // what the second daemon knows is what the first one has handed over
  }
  void SetUp() override {
    OrderPredictorTest::SetUp();
    usual_ = known_;
  }

  // Beside the usual ones, as after a hint or a search.
  void KnowRareSampler() {
    auto known = std::make_shared<std::vector<KnownSampler>>(*usual_);
    known->insert(known->begin() + 1, {.sampler = rare_, .epochs = 10});
    known_ = std::move(known);
  }
  // What is read while the first daemon follows this part of an epoch; then the second one begins.
  void PlayUntilRead(TraceSimulation* simulation, double part, const std::string& replay_folder = "",
                     uint64_t epoch = 1) {
    Start(simulation, replay_folder);
    Begin(simulation);
    const auto all = static_cast<double>(std::ranges::count(reads_, epoch, &TrueRead::epoch));
    uint64_t read = 0;
    const auto last = std::ranges::find_if(
        reads_, [&](const TrueRead& one) { return one.epoch == epoch && static_cast<double>(++read) >= part * all; });
    ASSERT_NE(last, reads_.end());
    PlayUntil(last->time_us);
    EXPECT_NE(DescribeState().find(" predicted so far"), std::string::npos) << DescribeState();
    EXPECT_EQ(DescribeState().find("nothing now"), std::string::npos) << DescribeState();
    known_ = usual_;
    orders_.ForgetPredicted();
    Start(simulation, replay_folder);
  }
  JobPlan WithValidation(JobPlan plan) const {
    SampleLists lists(opened_);
    plan.validation = lists.Make("torchvision ImageFolder", "val").value()->files();
    plan.validation_workers = 2;
    plan.epochs = 4;
    return plan;
  }
  // Half of the validation behind this epoch is read.
  void PlayUntilValidation(uint64_t epoch) {
    std::vector<uint64_t> times;
    for (const TrueRead& read : reads_) {
      if (read.validation && read.epoch == epoch) times.push_back(read.time_us);
    }
    ASSERT_FALSE(times.empty());
    PlayUntil(times[times.size() / 2]);
  }
  size_t Written() const {
    return std::ranges::count_if(texts_->followed.texts,
                                 [](const LastingTexts::Text& text) { return !text.Read().empty(); });
  }
  // Of the reads of an epoch that the second daemon has seen.
  void ForgetShares() { share_.clear(); }

  std::unique_ptr<LastingOrders> texts_ = std::make_unique<LastingOrders>();
  std::shared_ptr<const std::vector<KnownSampler>> usual_;
  const std::shared_ptr<const Sampler> rare_ = MakeTorchSampler(FreshSeedRecipe("rare", kRareSeed));
};

TEST_F(OrderHandoverTest, ARareSeedIsKnownAfterAFewReadsInMidEpoch) {
  for (const bool is_handed_over : {true, false}) {
    KnowRareSampler();
    lasting_ = is_handed_over ? texts_.get() : nullptr;
    TraceSimulation simulation(1, false);
    simulation.AddJob(PlanOf(rare_));
    PlayUntilRead(&simulation, 0.4);
    ForgetShares();
    PlayUntil(TraceEnd());
    if (is_handed_over) {
      // Of 720 reads that are left it takes 6 to 24.
      EXPECT_GE(share(1), 0.95) << DescribeState();
      EXPECT_GE(share(2), 0.98) << DescribeState();
      EXPECT_NE(DescribeState().find("taken over after "), std::string::npos) << DescribeState();
      EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U);
    } else {
      EXPECT_EQ(DescribeState().find("predicted so far"), std::string::npos) << DescribeState();
    }
  }
}

// The daemon died between two epochs: the second one sees the next epoch alone.
TEST_F(OrderHandoverTest, TheEpochAfterTheOneThatWasFollowed) {
  KnowRareSampler();
  TraceSimulation simulation(2, false);
  simulation.AddJob(PlanOf(rare_));
  PlayUntilRead(&simulation, 1);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(2), 0.95) << DescribeState();
}

TEST_F(OrderHandoverTest, ADaemonThatKnowsNothingYetHandsOnWhatItWasGiven) {
  KnowRareSampler();
  TraceSimulation simulation(3, false);
  simulation.AddJob(PlanOf(rare_));
  PlayUntilRead(&simulation, 0.3);
  for (int died = 0; died < 5; ++died) {
    for (int read = 0; read < 2; ++read) TellNext();
    predictor_->Flush();
    Start(&simulation);
  }
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(1), 0.95) << DescribeState();
}

// The ranks of this host come with the order: the second daemon reads nothing of the others ahead.
TEST_F(OrderHandoverTest, OneRankOfFour) {
  KnowRareSampler();
  TraceSimulation simulation(4, false);
  JobPlan plan = PlanOf(rare_);
  plan.ranks = 4;
  plan.local_ranks = {2};
  simulation.AddJob(plan);
  PlayUntilRead(&simulation, 0.3);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(1), 0.9) << DescribeState();
  EXPECT_NE(DescribeState().find("rank 2 of 4"), std::string::npos) << DescribeState();
  EXPECT_NE(DescribeState().find("taken over after "), std::string::npos) << DescribeState();
}

TEST_F(OrderHandoverTest, ARecordedRun) {
  const std::vector<Order> epochs = DrawnWithReplacement(5, 3, kSamples, kSamples);
  const std::string folder = folder_ + "/replay";
  const JobPlan plan = PlanOf(epochs);
  {
    TraceSimulation first(6, false);
    first.AddJob(plan);
    Start(&first, folder);
    PlayToTheUnmount(&first, 200);
  }
  TraceSimulation again(6, false);
  again.AddJob(plan);
  PlayUntilRead(&again, 0.4, folder);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(1), 0.95) << DescribeState();
  EXPECT_GE(share(2), 0.98) << DescribeState();
  EXPECT_NE(DescribeState().find("taken over after "), std::string::npos) << DescribeState();
}

// A job reads nothing for minutes, or its script has ended while no daemon was there. Other scripts read meanwhile.
TEST_F(OrderHandoverTest, WhatNoJobGoesOnWithIsForgottenAfterAWhile) {
  KnowRareSampler();
  TraceSimulation simulation(7, false);
  simulation.AddJob(PlanOf(rare_));
  PlayUntilRead(&simulation, 0.5);
  EXPECT_EQ(Written(), 1U);
  TraceSimulation other(8, false);
  JobPlan plan = PlanOf(MakeTorchSampler(FreshSeedRecipe("rare", kRareSeed + 12'345)));
  plan.epochs = 5;  // more reads than wait for the predictor's thread at once
  other.AddJob(plan);
  plan.start_us = OrderHandover::kTakeUs - 60'000'000;
  plan.epochs = 1;
  other.AddJob(plan);
  plan.start_us = OrderHandover::kTakeUs + 60'000'000;
  other.AddJob(plan);
  Start(&other);
  Begin(&other);
  PlayUntil(OrderHandover::kTakeUs);
  EXPECT_EQ(Written(), 1U);
  PlayUntil(TraceEnd());
  EXPECT_EQ(DescribeState().find("predicted so far"), std::string::npos) << DescribeState();
  EXPECT_EQ(Written(), 0U);
}

// The validation's order is one more. It does not take the place of the training's.
TEST_F(OrderHandoverTest, TheTrainingGoesOnAfterADeathInTheValidation) {
  KnowRareSampler();
  TraceSimulation simulation(13, false);
  simulation.AddJob(WithValidation(PlanOf(rare_)));
  Start(&simulation);
  Begin(&simulation);
  PlayUntilValidation(1);
  // A slow machine may find the list of all files first, before it has seen that the validation is a data set by
  // itself.
  EXPECT_GE(Written(), 2U);
  known_ = usual_;
  orders_.ForgetPredicted();
  Start(&simulation);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(2), 0.9) << DescribeState();
  EXPECT_GE(share(3), 0.9) << DescribeState();
}

// A seed that was searched for is good for one epoch. What follows from it is found by it.
TEST_F(OrderHandoverTest, ASeedThatWasSearchedFor) {
  IdentifiedOrder searched =
      MakeIdentifiedOrder(train_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch RandomSampler", kRareSeed, 0))});
  searched.seed = kRareSeed;
  SampleLists lists(opened_);
  const Hints hints;
  OrderHandover({.lasting = texts_.get(), .lists = lists, .hints = hints, .known = usual_}).Follow(1, searched);
  ASSERT_EQ(Written(), 1U);
  TraceSimulation simulation(14, false);
  simulation.AddJob(PlanOf(rare_));  // kRareSeed, and then the seeds after it
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.95, 0.95);
}

// set_epoch is not called, which two epochs have shown before the daemon dies.
TEST_F(OrderHandoverTest, TheSameEpochAgainAndAgain) {
  KnowRareSampler();
  TraceSimulation simulation(15, false);
  JobPlan plan;
  plan.order = [this](uint64_t) { return FilesOf(*train_, EpochOf(*rare_, samples_, 0)); };
  plan.epochs = 6;
  simulation.AddJob(plan);
  PlayUntilRead(&simulation, 0.5, "", 3);
  const uint64_t lost = statistics_.Snapshot()[Stat::kOrdersLost];
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(3), 0.95) << DescribeState();
  EXPECT_GE(share(4), 0.98) << DescribeState();
  EXPECT_GE(share(5), 0.98) << DescribeState();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], lost);
}

TEST_F(OrderHandoverTest, WhatWasWrittenLeastRecentlyGoes) {
  SampleLists lists(opened_);
  const Hints hints;
  OrderHandover handover({.lasting = texts_.get(), .lists = lists, .hints = hints, .known = usual_});
  const auto follow = [&](JobId job) {
    handover.Follow(job, MakeIdentifiedOrder(
                             train_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch generator", kRareSeed + job)),
                                      .epoch = 1}));
  };
  const auto is_written = [&](JobId job) {
    const std::string seed = " seed " + std::to_string(kRareSeed + job) + " ";
    return std::ranges::any_of(texts_->followed.texts, [&](const LastingTexts::Text& text) {
      return text.Read().find(seed) != std::string::npos;
    });
  };
  for (JobId job = 1; job <= LastingTexts::kTextsMax; ++job) follow(job);
  follow(1);
  EXPECT_EQ(Written(), LastingTexts::kTextsMax);
  follow(LastingTexts::kTextsMax + 1);
  EXPECT_EQ(Written(), LastingTexts::kTextsMax);
  EXPECT_TRUE(is_written(1));
  EXPECT_FALSE(is_written(2));
  EXPECT_TRUE(is_written(LastingTexts::kTextsMax + 1));
  handover.Leave(3);
  EXPECT_FALSE(is_written(3));
  EXPECT_EQ(Written(), LastingTexts::kTextsMax - 1);
}

TEST_F(OrderHandoverTest, WhatAnotherProcessHasLeftThereIsNotTrusted) {
  std::mt19937_64 random(9);
  for (LastingTexts::Text& text : texts_->followed.texts) {
    text.bytes = static_cast<uint32_t>(random());
    for (char& byte : text.content) byte = static_cast<char>(random());
  }
  texts_->followed.texts[0].Write("{}");
  texts_->followed.texts[1].Write(R"({"rule":1})");
  TraceSimulation simulation(10, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 42))));
  Start(&simulation);
  Play(&simulation);
  ExpectPredicted(0.95, 0.98);
  EXPECT_EQ(Written(), 1U);
}

// A hint of one rank. It is a hint for the second daemon, too, and names the order that the first one followed.
TEST_F(OrderHandoverTest, AHint) {
  const std::vector<std::string> words = {"--sampler", "distributed",  "--seed", "70007",   "--epoch-from",
                                          "31",        "--world-size", "2",      "--ranks", "1"};
  const Result<SamplerHint> hint = ParseSamplerHint(words);
  ASSERT_TRUE(hint.ok()) << hint.status().text();
  TraceSimulation simulation(11, false);
  JobPlan plan;
  plan.order = [this](uint64_t epoch) {
    return FilesOf(*train_, EpochOf(*MakeTorchSampler(FreshSeedRecipe("truth", 70'007)), samples_, 31 + epoch));
  };
  plan.ranks = 2;
  plan.local_ranks = {1};
  simulation.AddJob(plan);
  Start(&simulation);
  predictor_->AddHint(ResolveSamplerHint(*hint).value());
  Begin(&simulation);
  PlayUntil(accesses_[accesses_.size() / 2].time_us);
  EXPECT_NE(DescribeState().find("as hinted"), std::string::npos) << DescribeState();
  orders_.ForgetPredicted();
  Start(&simulation);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(1), 0.8) << DescribeState();  // of the 250 reads that are left
  EXPECT_GE(share(2), 0.95) << DescribeState();
  EXPECT_NE(DescribeState().find("agrees with epoch 33"), std::string::npos) << DescribeState();
  EXPECT_NE(DescribeState().find("taken over after "), std::string::npos) << DescribeState();
}

// It is about the next script. The daemon dies while another script reads, which does not agree with it.
TEST_F(OrderHandoverTest, AHintThatWaits) {
  const Result<SamplerHint> hint =
      ParseSamplerHint(std::vector<std::string>{"--sampler", "distributed", "--seed", "70007"});
  ASSERT_TRUE(hint.ok()) << hint.status().text();
  TraceSimulation simulation(12, false);
  JobPlan other = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", kRareSeed)));
  other.epochs = 1;
  simulation.AddJob(other);
  JobPlan hinted = PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 70'007)));
  hinted.epochs = 2;
  hinted.start_us = 60'000'000;
  simulation.AddJob(hinted);
  Start(&simulation);
  Begin(&simulation);
  PlayUntil(accesses_[100].time_us);
  predictor_->AddHint(ResolveSamplerHint(*hint).value());
  PlayUntil(accesses_[200].time_us);
  Start(&simulation);
  PlayUntil(60'000'000);
  EXPECT_NE(DescribeState().find("hint: torch DistributedSampler, seed 70007 + epoch"), std::string::npos)
      << DescribeState();
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(0), 0.95) << DescribeState();
  EXPECT_NE(DescribeState().find("as hinted"), std::string::npos) << DescribeState();
}

// It began with epoch 31 and has come to epoch 33, behind which the daemon dies.
TEST_F(OrderHandoverTest, AHintGoesOnAfterADeathInTheValidation) {
  const Result<SamplerHint> hint =
      ParseSamplerHint(std::vector<std::string>{"--sampler", "distributed", "--seed", "70007", "--epoch-from", "31"});
  ASSERT_TRUE(hint.ok()) << hint.status().text();
  TraceSimulation simulation(16, false);
  JobPlan plan;
  plan.order = [this](uint64_t epoch) {
    return FilesOf(*train_, EpochOf(*MakeTorchSampler(FreshSeedRecipe("truth", 70'007)), samples_, 31 + epoch));
  };
  simulation.AddJob(WithValidation(plan));
  Start(&simulation);
  predictor_->AddHint(ResolveSamplerHint(*hint).value());
  Begin(&simulation);
  PlayUntilValidation(2);
  EXPECT_NE(DescribeState().find("agrees with epoch 33"), std::string::npos) << DescribeState();
  orders_.ForgetPredicted();
  Start(&simulation);
  ForgetShares();
  PlayUntil(TraceEnd());
  EXPECT_GE(share(3), 0.9) << DescribeState();
  EXPECT_NE(DescribeState().find("agrees with epoch 34"), std::string::npos) << DescribeState();
  EXPECT_EQ(DescribeState().find("dropped"), std::string::npos) << DescribeState();
}

}  // namespace
}  // namespace augur
