// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "samplers/split_sampler.h"
#include "samplers/torch_recipes.h"

// All expected numbers were printed by torch 2.15.0, those with another name beside them by that library.
namespace augur {
namespace {

using ::testing::ElementsAre;

IndexOrder Epoch(const TorchRecipe& recipe, uint64_t samples, uint64_t epoch, size_t count = SIZE_MAX) {
  IndexOrder indices;
  TorchSampler(recipe).Take(samples, epoch, count, &indices);
  return indices;
}

TEST(TorchSamplerTest, DistributedSamplerPadsOrDrops) {
  TorchRecipe recipe = FreshSeedRecipe("torch DistributedSampler", 42);
  recipe.shape = {.multiple = 4};
  // Ranks 0 to 3 in epoch 2: [2, 7, 5], [6, 9, 0], [3, 1, 2], [8, 4, 6].
  EXPECT_THAT(Epoch(recipe, 10, 2), ElementsAre(2, 6, 3, 8, 7, 9, 1, 4, 5, 0, 2, 6));
  EXPECT_THAT(Epoch(recipe, 10, 2, 3), ElementsAre(2, 6, 3));
  recipe.shape.drop_last = true;
  EXPECT_THAT(Epoch(recipe, 10, 2), ElementsAre(2, 6, 3, 8, 7, 9, 1, 4));
  EXPECT_EQ(TorchSampler(recipe).Describe(), "torch DistributedSampler, seed 42 + epoch");
}

TEST(TorchSamplerTest, DataLoaderAfterManualSeed) {
  const TorchRecipe recipe = DrawnSeedRecipe("torch RandomSampler", 42);
  EXPECT_THAT(Epoch(recipe, 10, 0), ElementsAre(8, 0, 9, 1, 4, 5, 6, 3, 2, 7));
  EXPECT_THAT(Epoch(recipe, 10, 1), ElementsAre(4, 6, 9, 3, 7, 5, 2, 0, 1, 8));
  EXPECT_THAT(Epoch(recipe, 10, 2), ElementsAre(6, 2, 1, 0, 3, 8, 5, 9, 4, 7));
}

TEST(TorchSamplerTest, DataLoaderWithAGenerator) {
  const TorchRecipe recipe = LoaderGeneratorRecipe("torch RandomSampler", 42);
  EXPECT_THAT(Epoch(recipe, 10, 0), ElementsAre(6, 5, 4, 0, 8, 9, 2, 1, 3, 7));
  EXPECT_THAT(Epoch(recipe, 10, 1), ElementsAre(3, 6, 5, 8, 9, 4, 2, 0, 7, 1));
  EXPECT_THAT(Epoch(recipe, 10, 2), ElementsAre(7, 4, 5, 0, 9, 1, 3, 2, 8, 6));
}

// Ultralytics 8.4.190, build_dataloader on one device with the settings' seed 0.
TEST(TorchSamplerTest, UltralyticsLoader) {
  const TorchRecipe recipe = EndlessLoaderRecipe("Ultralytics RandomSampler", kUltralyticsSeed);
  EXPECT_THAT(Epoch(recipe, 12, 0), ElementsAre(3, 10, 8, 6, 9, 2, 0, 1, 11, 4, 7, 5));
  EXPECT_THAT(Epoch(recipe, 12, 1), ElementsAre(5, 10, 8, 3, 7, 4, 9, 0, 1, 11, 6, 2));
  EXPECT_THAT(Epoch(recipe, 12, 2), ElementsAre(2, 10, 1, 0, 7, 3, 8, 11, 4, 9, 6, 5));
}

// RASampler of torchvision's references/classification, 300 samples, rank 1 of 4, seed 5, epoch 2.
TEST(TorchSamplerTest, RepeatedAugmentation) {
  TorchRecipe recipe = FreshSeedRecipe("torchvision RASampler", 5);
  recipe.shape = {.repeats = 3, .multiple = 4, .selection = EpochShape::Selection::kTorchvision};
  const IndexOrder all = Epoch(recipe, 300, 2);
  ASSERT_EQ(all.size(), 4 * 64U);
  IndexOrder rank;
  for (size_t i = 1; i < all.size(); i += 4) rank.push_back(all[i]);
  EXPECT_THAT(IndexOrder(rank.begin(), rank.begin() + 10), ElementsAre(15, 91, 122, 199, 217, 17, 148, 146, 252, 20));
  EXPECT_THAT(IndexOrder(rank.end() - 3, rank.end()), ElementsAre(0, 85, 279));
}

// torch.manual_seed(42); random_split(range(10), [7, 3])
TEST(TorchSamplerTest, RandomSplitGivesAPartOfTheSamples) {
  const auto split = MakeTorchSampler({.name = "random_split", .generator = RunStream{.seed = 42}, .shape = {}});
  const auto in_order =
      MakeTorchSampler({.name = "in order", .generator = FreshSeed{}, .shape = {}, .draw = TorchRecipe::Draw::kNone});
  IndexOrder indices;
  SplitSampler(split, 0, 7, in_order).Take(10, 5, SIZE_MAX, &indices);
  EXPECT_THAT(indices, ElementsAre(2, 6, 1, 8, 4, 5, 0));
  SplitSampler(split, 7, 3, in_order).Take(10, 0, 2, &indices);
  EXPECT_THAT(indices, ElementsAre(9, 3));
  SplitSampler(split, 8, 3, in_order).Take(10, 0, SIZE_MAX, &indices);
  EXPECT_TRUE(indices.empty());
}

TEST(TorchSamplerTest, EpochsOfAStreamMayBeAskedForInAnyOrderByAnyThread) {
  const TorchSampler sampler(LoaderGeneratorRecipe("torch RandomSampler", 42));
  std::vector<IndexOrder> wanted(40);
  for (uint64_t epoch = 0; epoch < wanted.size(); ++epoch) {
    TorchSampler(sampler.recipe()).Take(1000, epoch, SIZE_MAX, &wanted[epoch]);
  }
  std::vector<std::jthread> threads;
  for (const uint64_t step : {1, 7, 39}) {
    threads.emplace_back([&sampler, &wanted, step] {
      for (uint64_t i = 0; i < wanted.size(); ++i) {
        const uint64_t epoch = i * step % wanted.size();
        IndexOrder indices;
        sampler.Take(1000, epoch, SIZE_MAX, &indices);
        EXPECT_EQ(indices, wanted[epoch]);
      }
    });
  }
}

TEST(TorchSamplerTest, APrefixIsTheBeginningOfTheEpochWhateverTheShape) {
  for (const EpochShape::Selection selection : {EpochShape::Selection::kAll, EpochShape::Selection::kTimm}) {
    for (const uint64_t repeats : {1, 3}) {
      for (const uint64_t multiple : {1, 4, 64}) {
        TorchRecipe recipe = FreshSeedRecipe("any", 1);
        recipe.shape = {.repeats = repeats, .multiple = multiple, .selection = selection};
        for (const uint64_t samples : {1, 5, 300}) {
          const IndexOrder whole = Epoch(recipe, samples, 0);
          ASSERT_EQ(whole.size() % multiple, 0U);
          for (const size_t count : {0, 1, 2, 4, 7, 100, 299, 301, 1000}) {
            const size_t taken = std::min<size_t>(count, whole.size());
            ASSERT_EQ(Epoch(recipe, samples, 0, count), IndexOrder(whole.begin(), whole.begin() + taken));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace augur
