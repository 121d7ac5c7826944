// SPDX-License-Identifier: Apache-2.0
// Samplers of libraries that cannot be installed beside the others, by their names in a hint. Each expected order was
// given by the library's own code: the version and the call stand above the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "samplers/sampler_description.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

// What the ranks that the hint names read in one epoch.
IndexOrder Epoch(const Words& words, uint64_t samples, uint64_t epoch) {
  IndexOrder indices;
  const Result<SamplerHint> hint = ParseSamplerHint(words);
  EXPECT_TRUE(hint.ok()) << hint.status().text();
  if (!hint.ok()) return indices;
  const Result<SamplerDescription> sampler = ResolveSamplerHint(*hint);
  EXPECT_TRUE(sampler.ok()) << sampler.status().text();
  if (sampler.ok()) sampler->Take(samples, epoch, SIZE_MAX, &indices);
  return indices;
}

// The first `count` indices of a run.
IndexOrder FirstOf(const Words& words, uint64_t samples, size_t count) {
  IndexOrder indices;
  for (uint64_t epoch = 0; indices.size() < count && epoch < count; ++epoch) {
    const IndexOrder more = Epoch(words, samples, epoch);
    indices.insert(indices.end(), more.begin(), more.end());
  }
  indices.resize(count);
  return indices;
}

Words With(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// DataLoader(shuffle=True) after torch.manual_seed(42) and (0), by torch/utils/data of torch 1.8.1, which gave the same
// as that of 1.7.1, and of 1.6.0. Both ran on torch 2.15.0, whose randperm they called.
TEST(RecordedOrdersTest, OldTorch) {
  const Words newer = {"--sampler", "torch-1.8", "--seed"};
  EXPECT_THAT(Epoch(With(newer, {"42"}), 10, 0), ElementsAre(6, 3, 0, 8, 1, 4, 5, 2, 7, 9));
  EXPECT_THAT(Epoch(With(newer, {"42"}), 10, 1), ElementsAre(5, 4, 1, 2, 6, 8, 9, 3, 7, 0));
  EXPECT_THAT(Epoch(With(newer, {"42"}), 10, 2), ElementsAre(2, 4, 5, 3, 9, 1, 0, 6, 8, 7));
  EXPECT_THAT(FirstOf(With(newer, {"0"}), 7, 14), ElementsAre(1, 4, 0, 6, 5, 3, 2, 2, 3, 1, 0, 6, 4, 5));
  const Words older = {"--sampler", "torch-1.6", "--seed"};
  EXPECT_THAT(Epoch(With(older, {"42"}), 10, 0), ElementsAre(6, 5, 4, 0, 8, 9, 2, 1, 3, 7));
  EXPECT_THAT(Epoch(With(older, {"42"}), 10, 1), ElementsAre(4, 1, 6, 9, 5, 7, 8, 2, 0, 3));
  EXPECT_THAT(Epoch(With(older, {"42"}), 10, 2), ElementsAre(9, 5, 7, 4, 1, 0, 6, 2, 3, 8));
  EXPECT_THAT(FirstOf(With(older, {"0"}), 7, 14), ElementsAre(0, 1, 5, 6, 2, 3, 4, 2, 3, 1, 6, 5, 4, 0));
}

// detectron2 0.6, data/samplers/distributed_sampler.py: TrainingSampler(11, seed=9), alone and on 4 ranks; and
// TrainingSampler(20, seed=2**40 + 5) as rank 1 of 3.
TEST(RecordedOrdersTest, Detectron2) {
  const Words hint = {"--sampler", "detectron2", "--seed", "9"};
  EXPECT_THAT(FirstOf(hint, 11, 22), ElementsAre(4, 9, 2, 8, 3, 7, 0, 1, 5, 10, 6, 0, 5, 8, 3, 6, 10, 1, 2, 4, 7, 9));
  const Words of_four = With(hint, {"--world-size", "4", "--ranks"});
  EXPECT_THAT(FirstOf(With(of_four, {"0"}), 11, 8), ElementsAre(4, 3, 5, 5, 10, 7, 0, 6));
  EXPECT_THAT(FirstOf(With(of_four, {"1"}), 11, 8), ElementsAre(9, 7, 10, 8, 1, 9, 7, 9));
  EXPECT_THAT(FirstOf(With(of_four, {"2"}), 11, 8), ElementsAre(2, 0, 6, 3, 2, 5, 2, 8));
  EXPECT_THAT(FirstOf(With(of_four, {"3"}), 11, 8), ElementsAre(8, 1, 0, 6, 4, 1, 10, 4));
  EXPECT_THAT(
      FirstOf({"--sampler", "detectron2", "--seed", "1099511627781", "--world-size", "3", "--ranks", "1"}, 20, 20),
      ElementsAre(0, 3, 18, 19, 12, 4, 13, 17, 19, 2, 11, 0, 1, 5, 2, 8, 0, 10, 1, 4));
}

// mmengine 0.10.7, dataset/sampler.py: InfiniteSampler(range(10), seed=1234) on 3 ranks.
TEST(RecordedOrdersTest, MmengineInfiniteSampler) {
  const Words of_three = {"--sampler", "mmengine-infinite", "--seed", "1234", "--world-size", "3", "--ranks"};
  EXPECT_THAT(FirstOf(With(of_three, {"0"}), 10, 10), ElementsAre(5, 2, 1, 3, 3, 2, 6, 4, 3, 6));
  EXPECT_THAT(FirstOf(With(of_three, {"1"}), 10, 10), ElementsAre(4, 6, 7, 9, 1, 5, 0, 1, 9, 5));
  EXPECT_THAT(FirstOf(With(of_three, {"2"}), 10, 10), ElementsAre(8, 9, 0, 4, 8, 7, 2, 0, 7, 8));
}

// mmengine 0.10.7, dataset/sampler.py: DefaultSampler(range(10), seed=17) alone and on 4 ranks, and of range(3) on 8
// ranks, after set_epoch(0) and set_epoch(3).
TEST(RecordedOrdersTest, MmengineDefaultSampler) {
  const Words hint = {"--sampler", "mmengine", "--seed", "17"};
  EXPECT_THAT(Epoch(hint, 10, 0), ElementsAre(9, 7, 0, 5, 6, 2, 4, 8, 1, 3));
  EXPECT_THAT(Epoch(hint, 10, 3), ElementsAre(1, 2, 9, 5, 4, 3, 7, 6, 0, 8));
  const Words of_four = With(hint, {"--world-size", "4", "--ranks"});
  EXPECT_THAT(Epoch(With(of_four, {"0"}), 10, 3), ElementsAre(1, 4, 0));
  EXPECT_THAT(Epoch(With(of_four, {"1"}), 10, 3), ElementsAre(2, 3, 8));
  EXPECT_THAT(Epoch(With(of_four, {"2"}), 10, 3), ElementsAre(9, 7, 1));
  EXPECT_THAT(Epoch(With(of_four, {"3"}), 10, 3), ElementsAre(5, 6, 2));
  EXPECT_THAT(Epoch(With(hint, {"--world-size", "8"}), 3, 3), ElementsAre(2, 1, 0, 2, 1, 0, 2, 1));
}

// FFCV 1.0.0, traversal_order/random.py: Random(loader).sample_order(epoch) with seed 42, of 12 samples on one device
// and of 10 on 4.
TEST(RecordedOrdersTest, Ffcv) {
  const Words hint = {"--sampler", "ffcv", "--seed", "42"};
  EXPECT_THAT(Epoch(hint, 12, 0), ElementsAre(0, 7, 6, 9, 11, 3, 5, 2, 4, 10, 1, 8));
  EXPECT_THAT(Epoch(hint, 12, 1), ElementsAre(10, 9, 2, 7, 11, 5, 8, 1, 4, 6, 0, 3));
  EXPECT_THAT(Epoch(hint, 12, 7), ElementsAre(7, 5, 6, 3, 4, 1, 8, 2, 10, 11, 9, 0));
  const Words of_four = With(hint, {"--world-size", "4", "--ranks"});
  EXPECT_THAT(Epoch(With(of_four, {"0"}), 10, 1), ElementsAre(8, 5, 2));
  EXPECT_THAT(Epoch(With(of_four, {"1"}), 10, 1), ElementsAre(4, 1, 3));
  EXPECT_THAT(Epoch(With(of_four, {"2"}), 10, 1), ElementsAre(9, 6, 8));
  EXPECT_THAT(Epoch(With(of_four, {"3"}), 10, 1), ElementsAre(0, 7, 4));
}

// fairseq 0.12.2, data/iterators.py: EpochBatchIterator(dataset, list, batches).next_epoch_itr() twice, with the
// batches that the hint says.
TEST(RecordedOrdersTest, Fairseq) {
  const Words single = {"--sampler", "fairseq"};
  EXPECT_THAT(Epoch(single, 12, 0), ElementsAre(9, 5, 4, 7, 1, 10, 0, 3, 2, 6, 11, 8));
  EXPECT_THAT(Epoch(single, 12, 1), ElementsAre(5, 4, 1, 2, 11, 6, 7, 0, 3, 9, 8, 10));
  const Words batches = {"--sampler", "fairseq", "--seed", "7", "--batch-size", "3"};
  EXPECT_THAT(Epoch(batches, 10, 0), ElementsAre(6, 7, 8, 3, 4, 5, 0, 1, 2, 9));
  EXPECT_THAT(Epoch(batches, 10, 1), ElementsAre(3, 4, 5, 9, 0, 1, 2, 6, 7, 8));
  // num_shards=2: its ranks take whole batches in turn.
  const Words of_two = {"--sampler", "fairseq", "--batch-size", "3", "--world-size", "2", "--ranks"};
  EXPECT_THAT(Epoch(With(of_two, {"0"}), 12, 0), ElementsAre(6, 7, 8, 3, 4, 5));
  EXPECT_THAT(Epoch(With(of_two, {"0"}), 12, 1), ElementsAre(9, 10, 11, 0, 1, 2));
  EXPECT_THAT(Epoch(With(of_two, {"1"}), 12, 0), ElementsAre(9, 10, 11, 0, 1, 2));
  EXPECT_THAT(Epoch(With(of_two, {"1"}), 12, 1), ElementsAre(3, 4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace augur
