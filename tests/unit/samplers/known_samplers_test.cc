// SPDX-License-Identifier: Apache-2.0
#include "samplers/known_samplers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "samplers/sampler_description.h"

namespace augur {
namespace {

using ::testing::ElementsAre;

TEST(KnownSamplersTest, TheLikeliestComeFirst) {
  const std::vector<KnownSampler> known = KnownSamplers();
  ASSERT_FALSE(known.empty());
  EXPECT_TRUE(std::ranges::is_sorted(known, {}, &KnownSampler::likelihood));
  EXPECT_EQ(known.front().sampler->Describe(), "torch DistributedSampler, seed 0 + epoch");
}

// The order decides which of two that agree equally is believed, and how soon.
TEST(KnownSamplersTest, LibrariesAreTriedInTheirTurn) {
  using Likelihood = KnownSampler::Likelihood;
  // The first words of what the samplers say of themselves, in the order in which each comes first.
  const auto libraries = [known = KnownSamplers()](Likelihood likelihood) {
    std::vector<std::string> words;
    for (const KnownSampler& one : known) {
      const std::string text = one.sampler->Describe();
      const std::string word = text.substr(0, text.find_first_of(" ,"));
      if (one.likelihood == likelihood && std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
    return words;
  };
  EXPECT_THAT(libraries(Likelihood::kDefault),
              ElementsAre("torch", "transformers", "accelerate", "Ultralytics", "RepeatAugSampler", "DALI"));
  EXPECT_THAT(libraries(Likelihood::kCustom), ElementsAre("torch", "torchdata", "Ultralytics", "webdataset", "Keras",
                                                          "fastai", "Python", "fairseq", "numpy"));
  EXPECT_THAT(libraries(Likelihood::kVariant), ElementsAre("tf.data"));
  EXPECT_THAT(libraries(Likelihood::kDistant), ElementsAre("torch", "transformers", "accelerate", "Ultralytics",
                                                           "RepeatAugSampler", "torchdata", "DALI", "tf.data"));
}

TEST(KnownSamplersTest, EachGivesABeginningOfItsEpochs) {
  for (const KnownSampler& known : KnownSamplers()) {
    ASSERT_GT(known.epochs, 0U);
    IndexOrder indices;
    known.sampler->Take(1000, known.epochs - 1, 8, &indices);
    EXPECT_EQ(indices.size(), 8U) << known.sampler->Describe();
  }
}

// What is tried unasked is what tests/frameworks compares with timm itself under the name of the hint: of 1,000 samples
// 768 reads, not 3,000.
TEST(KnownSamplersTest, RepeatedAugmentationIsAsLongAsTimmsIs) {
  const auto hint = ParseSamplerHint(std::vector<std::string>{"--sampler", "timm-repeat"});
  ASSERT_TRUE(hint.ok());
  const auto timm = ResolveSamplerHint(*hint);
  ASSERT_TRUE(timm.ok());
  const std::vector<KnownSampler> all = KnownSamplers();
  const auto known = std::ranges::find_if(
      all, [](const KnownSampler& one) { return one.sampler->Describe().starts_with("RepeatAugSampler"); });
  ASSERT_NE(known, all.end());
  for (const uint64_t samples : {200U, 256U, 1000U}) {
    IndexOrder wanted;
    timm->Take(samples, 3, SIZE_MAX, &wanted);
    EXPECT_EQ(wanted.size(), samples < 256 ? samples : samples / 256 * 256);
    IndexOrder indices;
    known->sampler->Take(samples, 3, SIZE_MAX, &indices);
    EXPECT_EQ(indices, wanted) << samples;
  }
}

}  // namespace
}  // namespace augur
