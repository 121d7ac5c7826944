// SPDX-License-Identifier: Apache-2.0
#include "shuffle/known_samplers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace augur {
namespace {

TEST(KnownSamplersTest, TheLikeliestComeFirst) {
  const std::vector<KnownSampler> known = KnownSamplers();
  ASSERT_FALSE(known.empty());
  EXPECT_TRUE(std::ranges::is_sorted(known, {}, &KnownSampler::likelihood));
  EXPECT_EQ(known.front().sampler->Describe(), "torch DistributedSampler, seed 0 + epoch");
}

TEST(KnownSamplersTest, EachGivesABeginningOfItsEpochs) {
  for (const KnownSampler& known : KnownSamplers()) {
    ASSERT_GT(known.epochs, 0U);
    IndexOrder indices;
    known.sampler->Take(1000, known.epochs - 1, 8, &indices);
    EXPECT_EQ(indices.size(), 8U) << known.sampler->Describe();
  }
}

}  // namespace
}  // namespace augur
