// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>

#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

// A training set of so few files that its readers are apart by much of it.
class SmallSetTest : public OrderPredictorTest {
 protected:
  SmallSetTest() { samples_ = 480; }

  // A scan of the set in the order of its list, and then epochs of `order`, by the same process.
  JobPlan ScanAndThen(std::function<Order(uint64_t epoch)> order, uint32_t workers) const {
    JobPlan plan;
    plan.workers = workers;
    plan.epochs = 5;
    plan.order = [this, order = std::move(order)](uint64_t epoch) {
      return epoch == 0 ? train_->files() : order(epoch - 1);
    };
    return plan;
  }
  std::function<Order(uint64_t)> SystemRandom() const {
    return [this](uint64_t epoch) {
      std::mt19937_64 random(1000 + epoch);
      return FilesOf(*train_, RandomOrder(samples_, random));
    };
  }
};

// Epochs that nothing can predict, behind a scan: the order of the list is lost in the first of them.
TEST_F(SmallSetTest, AnOrderThatIsNotReadIsLost) {
  for (const bool opens : {false, true}) {
    for (const uint32_t workers : {0U, 2U}) {
      TraceSimulation simulation(31 + workers, opens);
      JobPlan plan = ScanAndThen(SystemRandom(), workers);
      plan.hits = opens ? 1 : 0;
      simulation.AddJob(plan);
      Start(&simulation);
      Play(&simulation);
      const uint64_t lost = statistics_.Snapshot()[Stat::kOrdersLost];
      EXPECT_GE(lost, 1U) << DescribeState();
      EXPECT_EQ(DescribeState().find("100.0 % of the reads"), std::string::npos) << DescribeState();
      EXPECT_TRUE(DescribeState().empty() || DescribeState().find("nothing now") != std::string::npos ||
                  DescribeState().find("of the reads so far as predicted") == std::string::npos)
          << DescribeState();
    }
  }
}

// The order behind the scan is found as it is without it.
TEST_F(SmallSetTest, AShuffleBehindAScanIsFound) {
  for (const uint32_t workers : {0U, 2U}) {
    TraceSimulation simulation(41 + workers, false);
    const auto sampler = MakeTorchSampler(DrawnSeedRecipe("truth", 0));
    simulation.AddJob(ScanAndThen(
        [this, sampler](uint64_t epoch) { return FilesOf(*train_, EpochOf(*sampler, samples_, epoch)); }, workers));
    Start(&simulation);
    Play(&simulation);
    for (size_t epoch = 2; epoch < 5; ++epoch) EXPECT_GE(share(epoch), 0.97) << epoch << DescribeState();
    EXPECT_NE(DescribeState().find("manual_seed(0)"), std::string::npos) << DescribeState();
  }
}

}  // namespace
}  // namespace augur
