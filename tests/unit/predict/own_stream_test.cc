// SPDX-License-Identifier: Apache-2.0
// Scripts that never seed torch: their seeds come from a stream of unknown seed, which is searched for.
#include <future>

#include "predict/origin_search.h"
#include "unit/predict/order_predictor_fixture.h"

namespace augur {
namespace {

uint32_t OutputOf(uint32_t seed, uint64_t position) {
  Mt19937 stream(seed);
  stream.Discard(position);
  return stream.Next();
}

// A generator's seed that nobody would guess, of the first part of all, whose output 3 is in [first, end).
uint32_t SeedWhoseDrawnSeedIsIn(uint32_t first, uint32_t end) {
  uint32_t seed = 20'000'003;
  while (OutputOf(seed, 3) < first || OutputOf(seed, 3) >= end) ++seed;
  return seed;
}

class OwnStreamTest : public OrderPredictorTest {
 protected:
  // An unseeded loop: ImageFolder, DataLoader(shuffle=True), in a process whose global generator has this seed.
  void StartLoop(TraceSimulation* simulation, uint32_t seed, uint64_t epochs) {
    JobPlan plan = PlanOf(MakeTorchSampler(DrawnSeedRecipe("truth", seed)));
    plan.epochs = epochs;
    simulation->AddJob(plan);
    idle_class_ = false;  // a machine that runs tests has no idle core
    Start(simulation);
    Begin(simulation);
  }
  bool IsTold(const std::string& text) const { return Told().find(text) != std::string::npos; }
  // The trace stands still meanwhile.
  bool WaitUntilTold(const std::string& text) const {
    for (int i = 0; i < 12'000 && !IsTold(text); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return IsTold(text);
  }
  void PlayEpochs(size_t epochs, uint64_t reads_more) {
    const size_t reads = std::min<size_t>(epochs * kSamples + reads_more, accesses_.size() - 1);
    PlayUntil(accesses_[reads].time_us);
  }
};

TEST_F(OwnStreamTest, OneSeedThatWasFoundTellsAllLaterEpochs) {
  const uint32_t seed = SeedWhoseDrawnSeedIsIn(0, 3'000'000);
  TraceSimulation simulation(40, false);
  StartLoop(&simulation, seed, 4);
  PlayEpochs(0, 200);
  ASSERT_TRUE(WaitUntilTold("found by search")) << Told();
  // Its first part, in which the seed is, has been searched.
  ASSERT_TRUE(WaitUntilTold("own stream: 1 %")) << Told();
  const std::string told = Told();
  EXPECT_LT(told.find("found by search"), told.find("own stream: ")) << "what is known is said first: " << told;
  PlayUntil(TraceEnd());
  EXPECT_GE(share(0), 0.8) << Told();
  EXPECT_GE(share(1), 0.95) << Told();
  EXPECT_GE(share(2), 0.99) << Told();
  EXPECT_GE(share(3), 0.99) << Told();
  EXPECT_TRUE(IsTold("seeds from outputs 3 + 4 * epoch of manual_seed(" + std::to_string(seed) + ")")) << Told();
  EXPECT_FALSE(IsTold("own stream:")) << "it is known, and still searched for: " << Told();
}

// The search of the first epoch's seed ends in a later epoch.
TEST_F(OwnStreamTest, ASeedThatIsFoundTooLateForItsEpochTellsTheLaterOnes) {
  const uint32_t seed = SeedWhoseDrawnSeedIsIn(200'000'000, 300'000'000);
  TraceSimulation simulation(41, false);
  StartLoop(&simulation, seed, 6);
  PlayEpochs(0, 600);
  ASSERT_TRUE(WaitUntilTold("all seeds of torch")) << Told();
  PlayEpochs(1, 300);
  ASSERT_TRUE(IsTold("of an epoch that has ended: all seeds of torch")) << Told();
  ASSERT_TRUE(WaitUntilTold("manual_seed(" + std::to_string(seed) + ")")) << Told();
  PlayUntil(TraceEnd());
  EXPECT_EQ(share(0), 0) << Told();
  EXPECT_GE(share(1), 0.6) << Told();
  for (const size_t epoch : {3, 4, 5}) EXPECT_GE(share(epoch), 0.99) << "epoch " << epoch << Told();
}

// Epochs that nobody understood lie between the one whose seed was found and the one that tells of which generator:
// they drew from it, too.
TEST_F(OwnStreamTest, EpochsThatWereNotUnderstoodAreCounted) {
  const uint32_t seed = SeedWhoseDrawnSeedIsIn(200'000'000, 300'000'000);
  TraceSimulation simulation(42, false);
  StartLoop(&simulation, seed, 6);
  PlayEpochs(0, 600);
  ASSERT_TRUE(WaitUntilTold("all seeds of torch")) << Told();
  PlayEpochs(3, 300);
  ASSERT_TRUE(IsTold("of an epoch that has ended: all seeds of torch")) << Told();
  ASSERT_TRUE(WaitUntilTold("seeds from outputs 3 + 4 * epoch of manual_seed(" + std::to_string(seed) + ")")) << Told();
  PlayUntil(TraceEnd());
  EXPECT_TRUE(IsTold("seeds from outputs 3 + 4 * epoch of manual_seed(" + std::to_string(seed) + ")")) << Told();
  for (const size_t epoch : {4, 5}) EXPECT_EQ(share(epoch), 1) << "epoch " << epoch << Told();
}

TEST(OriginSearchTest, EveryPlaceOfAPartIsFound) {
  auto searcher = Searcher::Start({.threads = 2, .idle_class = false});
  ASSERT_TRUE(searcher.ok()) << searcher.status().text();
  const uint32_t part = 5;
  const uint32_t seed = (part << 26) + 12'345'678;
  for (const uint32_t pass : {0U, 3U, 7U}) {
    // Output 3 + 4 * pass is what a plain loop seeds that epoch's sampler with.
    const uint32_t position = 3 + 4 * pass;
    const uint32_t value = OutputOf(seed, position);
    std::promise<std::vector<StreamPosition>> answer;
    (*searcher)->Submit(
        MakeOriginJob(value, OriginPositions(pass), part, [&](bool whole, std::vector<StreamPosition> found) {
          EXPECT_TRUE(whole);
          answer.set_value(std::move(found));
        }));
    const std::vector<StreamPosition> places = answer.get_future().get();
    EXPECT_EQ(std::ranges::count_if(
                  places,
                  [&](const StreamPosition& place) { return place.stream_seed == seed && place.position == position; }),
              1);
    for (const StreamPosition& place : places) {
      EXPECT_EQ(OutputOf(static_cast<uint32_t>(place.stream_seed), place.position), value);
      EXPECT_EQ(place.stream_seed >> 26, part);
    }
  }
  EXPECT_TRUE(OriginPositions(8).empty());
}

}  // namespace
}  // namespace augur
