// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "shuffle/sampler_hint.h"
#include "shuffle/sampler_spec.h"
#include "shuffle/torch_recipes.h"
#include "unit/foresee/foreseer_fixture.h"

namespace augur {
namespace {

class ForeseerHintTest : public ForeseerTest {
 protected:
  void Hint(const std::vector<std::string>& words) {
    const Result<SamplerHint> hint = ParseSamplerHint(words);
    ASSERT_TRUE(hint.ok()) << hint.status().text();
    Result<SamplerSpec> spec = ResolveSamplerHint(*hint);
    ASSERT_TRUE(spec.ok()) << spec.status().text();
    foreseer_->AddHint(std::move(spec).value());
  }
};

TEST_F(ForeseerHintTest, ARightHint) {
  TraceSimulation simulation(8, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 987'654))));
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectForeseen(0.95, 0.99);
  EXPECT_NE(Told().find("as hinted"), std::string::npos) << Told();
}

TEST_F(ForeseerHintTest, ARightHintWhoseEpochsAreTakenInTwosIsKept) {
  TraceSimulation simulation(10, false);
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("truth", 987'654));
  JobPlan plan = PlanOf(sampler);
  plan.order = [this, sampler](uint64_t epoch) { return FilesOf(*train_, EpochOf(*sampler, kSamples, 2 * epoch)); };
  simulation.AddJob(plan);
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectForeseen(0.9, 0.98);
  EXPECT_EQ(Told().find("agree with it"), std::string::npos) << Told();
  EXPECT_NE(Told().find("2 of its epochs for each"), std::string::npos) << Told();
}

// A script that does not call set_epoch: its second epoch shows it, and those after it are known beforehand.
TEST_F(ForeseerHintTest, ARightHintWhoseEpochIsTakenAgainAndAgainIsLostOnce) {
  TraceSimulation simulation(11, false);
  const auto sampler = MakeTorchSampler(FreshSeedRecipe("truth", 987'654));
  JobPlan plan = PlanOf(sampler);
  plan.order = [this, sampler](uint64_t) { return FilesOf(*train_, EpochOf(*sampler, kSamples, 0)); };
  plan.epochs = 5;
  simulation.AddJob(plan);
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectForeseen(0.9, 0.9);
  for (const size_t epoch : {2, 3, 4}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << Told();
  EXPECT_EQ(statistics_.Snapshot()[Stat::kOrdersLost], 1U) << Told();
  EXPECT_EQ(Told().find("agree with it"), std::string::npos) << Told();
}

TEST_F(ForeseerHintTest, AWrongHintIsDropped) {
  TraceSimulation simulation(9, false);
  simulation.AddJob(PlanOf(MakeTorchSampler(FreshSeedRecipe("truth", 1234))));
  Start(&simulation);
  Hint({"--sampler", "distributed", "--seed", "987654"});
  Play(&simulation);
  ExpectForeseen(0.9, 0.98);
  EXPECT_EQ(Told().find("as hinted"), std::string::npos) << Told();
}

}  // namespace
}  // namespace augur
