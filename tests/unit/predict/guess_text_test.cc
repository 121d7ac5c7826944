// SPDX-License-Identifier: Apache-2.0
#include "predict/guess_text.h"

#include <gtest/gtest.h>

#include "samplers/torch_recipes.h"

namespace augur {
namespace {

// A remembered guess draws what the guess drew.
TEST(GuessTextTest, WhatIsReadDrawsTheSame) {
  for (const TorchGenerator& generator :
       {TorchGenerator(FreshSeed{.seed = 7, .step = 1}), TorchGenerator(FreshSeed{.seed = ~uint64_t{0}, .step = 0}),
        TorchGenerator(DrawnSeed{.stream_seed = 42, .position = 623, .stride = 4}),
        TorchGenerator(RunStream{.seed = 5, .offset = 2, .trailing = true, .extra = 2}),
        TorchGenerator(RunStream{.seed = 5, .burnt = 1})}) {
    TorchRecipe recipe{.name = "any", .generator = generator, .shape = {}};
    const Guess guess = {.sampler = MakeTorchSampler(recipe), .epoch = 3};
    const std::optional<Guess> read = ParseGuess(RenderGuess(guess));
    ASSERT_TRUE(read) << RenderGuess(guess);
    EXPECT_EQ(read->epoch, 3U);
    IndexOrder expected;
    IndexOrder drawn;
    guess.sampler->Take(1000, 3, 1000, &expected);
    read->sampler->Take(1000, 3, 1000, &drawn);
    EXPECT_EQ(drawn, expected) << RenderGuess(guess);
  }
}

TEST(GuessTextTest, OtherTextIsNoGuess) {
  for (const char* text : {"", "torch-fresh", "torch-fresh seed 7 step 1", "torch-fresh seed 7 step 1 epoch 9 ",
                           "torch-fresh seed x step 1 epoch 9", "torch-fresh seed -7 step 1 epoch 9",
                           "torch-run seed 5 offset 2 trailing 2 extra 2 burnt 0 epoch 3",
                           "torch-drawn seed 99999999999999999999 position 1 stride 4 epoch 1", "numpy seed 1"}) {
    EXPECT_FALSE(ParseGuess(text)) << text;
  }
}

}  // namespace
}  // namespace augur
