// SPDX-License-Identifier: Apache-2.0
// Runs that are recorded, and known when they come again.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "recorded_runs/replay_store.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// What nobody can compute is kept, and known when the run comes again; also where the mount ends with the script.
TEST_F(OrderPredictorTest, AnOrderThatIsNotUnderstoodIsKnownTheSecondTime) {
  const std::vector<Order> epochs = DrawnWithReplacement(17, 2, kSamples, kSamples);
  const std::string folder = folder_ + "/replay";
  for (const bool again : {false, true}) {
    TraceSimulation simulation(18, false);
    simulation.AddJob(PlanOf(epochs));
    Start(&simulation, folder);
    if (again) {
      Play(&simulation);
      ExpectPredicted(0.9, 0.95);
      EXPECT_NE(DescribeState().find("recorded run run-"), std::string::npos) << DescribeState();
      EXPECT_NE(DescribeState().find("; epoch 1 of it; 2 epochs predicted so far; "), std::string::npos)
          << DescribeState();
      EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << DescribeState();
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
  const std::vector<Order> epochs = DrawnWithReplacement(23, 3, kSamples * 7 / 5, kSamples / 2);
  const std::string folder = folder_ + "/replay";
  for (int run = 0; run < 2; ++run) {
    TraceSimulation simulation(24, false);
    simulation.AddJob(PlanOf(epochs));
    Start(&simulation, folder);
    Play(&simulation);
  }
  ExpectPredicted(0.9, 0.98);
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 0U) << DescribeState();
}

// The rest of an epoch is recorded where there is room for it: a record is never more than can be loaded again.
// Each seed is a test of its own: two runs of 13 epochs are minutes under the thread sanitizer.
class LongRecordTest : public OrderPredictorTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(LongRecordTest, AnEpochTooManyDoesNotSpoilTheRecord) {
  // 1,300 files in the store, so 20,800 reads are recorded: 12 epochs and the beginning of one more, but not its rest
  // (where the last epoch looks as if it began anew, as it does with these seeds).
  const std::vector<Order> epochs = DrawnWithReplacement(GetParam(), 13, 1620, kSamples / 2);
  const std::string folder = folder_ + "/replay";
  for (int run = 0; run < 2; ++run) {
    TraceSimulation simulation(28, false);
    simulation.AddJob(PlanOf(epochs));
    Start(&simulation, folder);
    Play(&simulation);
  }
  for (size_t epoch = 0; epoch < 12; ++epoch) EXPECT_GE(share(epoch), 0.9) << "epoch " << epoch << DescribeState();
}
INSTANTIATE_TEST_SUITE_P(Seeds, LongRecordTest, testing::Values(28U, 29U, 30U));

// Of a run that is recognised and goes on longer, the beginning is still known the next time.
TEST_F(OrderPredictorTest, ARunThatGoesOnLongerKeepsItsRecord) {
  const std::vector<Order> epochs = DrawnWithReplacement(19, 3, kSamples, kSamples);
  const std::string folder = folder_ + "/replay";
  for (const uint64_t count : {2U, 3U, 2U}) {
    TraceSimulation simulation(20, false);
    JobPlan plan = PlanOf(epochs);
    plan.epochs = count;
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
  simulation.AddJob(PlanOf(epochs));
  Start(&simulation, folder);
  Play(&simulation);
  ExpectPredicted(0.9, 0.98);
  EXPECT_NE(DescribeState().find("recorded run"), std::string::npos) << DescribeState();
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
  EXPECT_EQ(DescribeState().find("recorded run"), std::string::npos) << DescribeState();
  EXPECT_NE(DescribeState().find("in the order of the list"), std::string::npos) << DescribeState();
}

}  // namespace
}  // namespace augur
