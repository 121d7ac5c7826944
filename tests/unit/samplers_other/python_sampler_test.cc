// SPDX-License-Identifier: Apache-2.0
// Orders of random.sample as CPython 3.11 gave them, by the calls of fastai/data/load.py. Many more sizes and seeds are
// compared with Python, and with fastai where it is installed, in tests/frameworks/test_shuffles_other.py.
#include "samplers/python_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "samplers/known_samplers.h"
#include "samplers/sampler_description.h"
#include "unit/samplers_other/taken.h"

namespace augur {
namespace {

const std::vector<IndexOrder> kFastaiOf42 = {{3, 8, 2, 4, 7, 11, 5, 1, 10, 0, 6, 9},
                                             {6, 2, 4, 10, 5, 3, 11, 7, 0, 9, 8, 1},
                                             {4, 5, 0, 10, 6, 8, 7, 2, 1, 9, 11, 3}};

TEST(PythonSampleSampler, Fastai) {
  const PythonSampleSampler sampler({.seed = 42, .epochs = SampleEpochs::kFastai});
  for (uint64_t epoch = 0; epoch < kFastaiOf42.size(); ++epoch) {
    EXPECT_EQ(Taken(sampler, 12, epoch), kFastaiOf42[epoch]) << epoch;
  }
  const PythonSampleSampler second({.seed = 42, .epochs = SampleEpochs::kFastai, .loaders_before = 1});
  EXPECT_EQ(Taken(second, 12), (IndexOrder{8, 9, 5, 4, 7, 3, 6, 2, 10, 1, 11, 0}));
}

TEST(PythonSampleSampler, APrefixIsThatOfTheWhole) {
  const PythonSampleSampler sampler({.seed = 42, .epochs = SampleEpochs::kFastai});
  EXPECT_EQ(Taken(sampler, 100'000, 0, 6), (IndexOrder{31670, 70267, 89851, 21666, 97228, 80207}));
  EXPECT_EQ(Taken(sampler, 100'000, 1, 6), (IndexOrder{67713, 75480, 713, 79606, 65981, 60700}));
  const IndexOrder whole = Taken(sampler, 5000);
  for (const size_t count : {1U, 77U, 78U, 79U, 1000U, 5000U}) {  // on both sides of where a list of all is laid out
    EXPECT_EQ(Taken(sampler, 5000, 0, count), IndexOrder(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(count)));
  }
}

TEST(PythonSampleSampler, AScript) {
  const std::vector<IndexOrder> epochs = {{10, 1, 0, 4, 3, 11, 6, 9, 8, 2, 5, 7},
                                          {0, 1, 3, 9, 11, 4, 10, 6, 8, 7, 5, 2}};
  for (uint64_t epoch = 0; epoch < epochs.size(); ++epoch) {
    EXPECT_EQ(Taken(PythonSampleSampler({.seed = 42, .epochs = SampleEpochs::kContinued}), 12, epoch), epochs[epoch]);
    EXPECT_EQ(Taken(PythonSampleSampler({.seed = 42, .epochs = SampleEpochs::kOnce}), 12, epoch), epochs[0]);
  }
}

TEST(PythonSampleSampler, ByItsNameForHints) {
  const auto resolve = [](const std::vector<std::string>& words) {
    const auto hint = ParseSamplerHint(words);
    EXPECT_TRUE(hint.ok()) << hint.status().text();
    return ResolveSamplerHint(*hint);
  };
  const auto fastai = resolve({"--sampler", "fastai", "--seed", "42"});
  ASSERT_TRUE(fastai.ok()) << fastai.status().text();
  EXPECT_EQ(fastai->Describe(), "fastai DataLoader, seed 42, from epoch 0");
  EXPECT_EQ(Taken(*fastai->sampler, 12, 1), kFastaiOf42[1]);
  const auto second = resolve({"--sampler", "fastai", "--seed", "42", "--position", "1"});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(Taken(*second->sampler, 3),
            Taken(PythonSampleSampler({.seed = 42, .epochs = SampleEpochs::kFastai, .loaders_before = 1}), 3));
  EXPECT_EQ(resolve({"--sampler", "fastai"}).status().code(), Code::kInvalid) << "it needs a seed";
  EXPECT_EQ(resolve({"--sampler", "fastai", "--seed", "1", "--same-epoch"}).status().code(), Code::kInvalid);
  const auto script = resolve({"--sampler", "python-sample", "--seed", "42", "--same-epoch"});
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(script->Describe(), "Python random.sample, seed 42, same in every epoch, from epoch 0");
}

TEST(PythonSampleSampler, IsTriedUnasked) {
  const std::vector<KnownSampler> known = KnownSamplers();
  const auto is_tried = [&](const IndexOrder& order, uint64_t epoch) {
    return std::ranges::any_of(known, [&](const KnownSampler& one) {
      return epoch < one.epochs && Taken(*one.sampler, order.size(), epoch) == order;
    });
  };
  for (uint64_t epoch = 0; epoch < kFastaiOf42.size(); ++epoch) EXPECT_TRUE(is_tried(kFastaiOf42[epoch], epoch));
}

}  // namespace
}  // namespace augur
