// SPDX-License-Identifier: Apache-2.0
#include "samplers/sampler_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "samplers/sampler_registry.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Result<SamplerDescription> Resolve(const Words& words) {
  AUGUR_TRY_ASSIGN(hint, ParseSamplerHint(words));
  return ResolveSamplerHint(hint);
}

std::string Failure(const Words& words) {
  const Result<SamplerDescription> spec = Resolve(words);
  return spec.ok() ? "no failure" : spec.status().text();
}

TEST(SamplerDescriptionTest, TheHintOfAHostWithHalfOfTheRanks) {
  const Result<SamplerDescription> spec =
      Resolve({"--sampler", "distributed", "--seed", "42", "--epoch-from=2", "--world-size", "4", "--ranks", "0-1"});
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_EQ(spec->first_epoch, 2U);
  EXPECT_EQ(spec->stream_seed, std::nullopt);
  IndexOrder indices;
  // torch 2.15.0: ranks 0 and 1 of 4 in epoch 2 of seed 42 are [2, 7, 5], [6, 9, 0].
  spec->Take(10, 2, SIZE_MAX, &indices);
  EXPECT_THAT(indices, ElementsAre(2, 6, 7, 9, 5, 0));
  spec->Take(10, 2, 3, &indices);
  EXPECT_THAT(indices, ElementsAre(2, 6, 7));
  EXPECT_EQ(spec->Describe(), "torch DistributedSampler, seed 42 + epoch, ranks 0-1 of 4, from epoch 2");
}

TEST(SamplerDescriptionTest, ASeedOfTheGlobalGeneratorIsOneToSearchFrom) {
  EXPECT_EQ(Resolve({"--sampler", "torch", "--seed", "7"})->stream_seed, 7U);
  EXPECT_EQ(Resolve({"--sampler", "torch", "--seed", "7", "--position", "113"})->stream_seed, std::nullopt);
  EXPECT_EQ(Resolve({"--sampler", "timm", "--seed", "-1"})->stream_seed, UINT64_MAX);
}

TEST(SamplerDescriptionTest, EverySamplerCanBeNamedOnce) {
  std::set<std::string_view> names;
  for (const NamedSampler& named : NamedSamplers()) {
    EXPECT_TRUE(names.insert(named.name).second) << named.name;
    EXPECT_FALSE(named.what.empty()) << named.name;
    const Result<SamplerDescription> spec =
        Resolve({"--sampler", std::string(named.name), "--seed", "3", "--buffer", "50"});
    ASSERT_TRUE(spec.ok()) << spec.status().text();
    IndexOrder indices;
    spec->Take(300, 1, 20, &indices);
    EXPECT_EQ(indices.size(), 20U) << named.name;
    for (const uint32_t index : indices) EXPECT_LT(index, 300U) << named.name;
  }
}

TEST(SamplerDescriptionTest, FailuresSayWhatToGive) {
  EXPECT_THAT(Failure({}), HasSubstr("--sampler is missing: give one of torch,"));
  EXPECT_THAT(Failure({"--sampler", "toch"}), HasSubstr("there is no toch: give one of torch,"));
  EXPECT_THAT(Failure({"--sampler", "torch"}), HasSubstr("it has no seed of its own: give --seed"));
  EXPECT_THAT(Failure({"--sampler", "transformers", "--world-size", "2"}), HasSubstr("give --batch-size"));
  EXPECT_THAT(Failure({"--sampler", "transformers", "--world-size", "2", "--batch-size", "3", "--split-batches"}),
              HasSubstr("a batch of 3 cannot be split among 2 ranks"));
  EXPECT_THAT(Failure({"--sampler", "distributed", "--ranks", "0-3"}), HasSubstr("give --world-size"));
  EXPECT_THAT(Failure({"--sampler", "distributed", "--ranks", "3-1"}), HasSubstr("such as 0-3 or 0,2,4"));
  EXPECT_THAT(Failure({"--sampler", "distributed", "--ranks", ""}), HasSubstr("such as 0-3 or 0,2,4"));
  EXPECT_THAT(Failure({"--sampler", "fresh", "--seed", "1", "--split-size", "10"}), HasSubstr("give --split-seed"));
  EXPECT_THAT(Failure({"--seed", "forty"}), HasSubstr("--seed: forty is not a whole number"));
  EXPECT_THAT(Failure({"--seed", "18446744073709551616"}), HasSubstr("whole number of 64 bits"));
  EXPECT_THAT(Failure({"--world-size", "0"}), HasSubstr("a number from 1 to 1048576"));
  EXPECT_THAT(Failure({"--seed"}), HasSubstr("its value is missing"));
  EXPECT_THAT(Failure({"--drop-last=yes"}), HasSubstr("it takes no value"));
  EXPECT_THAT(Failure({"--sead", "1"}), HasSubstr("--sead is not an option of it: give --sampler, --seed"));
}

// Nobody steps a generator for hours: what is too far is refused, and the text says what is not.
TEST(SamplerDescriptionTest, WhatIsTooFarIntoAStreamIsRefused) {
  constexpr uint64_t kImageNet = 1'281'167;
  const auto reach = [](const Words& words) {
    const Result<SamplerDescription> spec = Resolve(words);
    return spec.ok() ? spec->CheckReach(kImageNet) : spec.status();
  };
  const Words far = {"--epoch-from", "100000"};
  for (const Words& sampler :
       {Words{"--sampler", "generator", "--seed", "1"},
        Words{"--sampler", "torch", "--seed", "1", "--stride", "4294967296"},
        Words{"--sampler", "numpy", "--seed", "1"}, Words{"--sampler", "python-in-place", "--seed", "1"},
        Words{"--sampler", "python-sample", "--seed", "1"}, Words{"--sampler", "fastai", "--seed", "1"},
        Words{"--sampler", "dali-after-epoch"}}) {
    Words words = sampler;
    words.insert(words.end(), far.begin(), far.end());
    const Status status = reach(words);
    ASSERT_EQ(status.code(), Code::kInvalid) << sampler[1];
    const std::string& text = status.text();
    EXPECT_THAT(text, HasSubstr("--epoch-from 100000 is too far into the stream")) << sampler[1];
    // The cure is the last epoch that can be had.
    const size_t cure = text.rfind(' ') + 1;
    const uint64_t last = std::stoull(text.substr(cure));
    words.back() = std::to_string(last);
    EXPECT_TRUE(reach(words).ok()) << sampler[1] << ": " << last;
    words.back() = std::to_string(last + 1);
    EXPECT_FALSE(reach(words).ok()) << sampler[1] << ": " << last;
  }
  EXPECT_THAT(reach({"--sampler", "torch", "--seed", "1", "--position", "68719476736"}).text(),
              HasSubstr("--position is too far into the stream"));
  // Where each epoch has a seed of its own, none is far.
  for (const char* name : {"distributed", "transformers", "tf", "ffcv", "fairseq", "keras"}) {
    EXPECT_TRUE(reach({"--sampler", name, "--seed", "1", "--epoch-from", "100000"}).ok()) << name;
  }
  EXPECT_TRUE(reach({"--sampler", "torch", "--seed", "1", "--position", "143759851", "--epoch-from", "90"}).ok());
}

}  // namespace
}  // namespace augur
