// SPDX-License-Identifier: Apache-2.0
#include "samplers/sampler_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "samplers/list_shuffle.h"
#include "samplers/sampler_description.h"

namespace augur {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Replacement and repeats give some samples more than once.
constexpr std::string_view kNoPermutations[] = {"replacement", "timm-repeat", "torchvision-repeat"};

// The hint that names the sampler and gives it a seed.
SamplerHint HintOf(const NamedSampler& named, std::string_view seed) {
  const std::vector<std::string> words = {"--sampler", std::string(named.name), "--seed", std::string(seed)};
  return ParseSamplerHint(words).value();
}

// The names in the second column of the tables of SHUFFLES.md.
std::set<std::string> NamesInDocument() {
  std::set<std::string> names;
  std::ifstream document(AUGUR_SHUFFLES_MD);
  EXPECT_TRUE(document) << AUGUR_SHUFFLES_MD;
  for (std::string line; std::getline(document, line);) {
    if (!line.starts_with("| ")) continue;
    const size_t begin = line.find(" |", 1);
    const std::string cell = line.substr(begin + 2, line.find(" |", begin + 2) - begin - 2);
    for (size_t at = cell.find('`'); at != std::string::npos;) {
      const size_t end = cell.find('`', at + 1);
      names.insert(cell.substr(at + 1, end - at - 1));
      at = cell.find('`', end + 1);
    }
  }
  return names;
}

TEST(SamplerRegistryTest, EachSamplerIsMadeOfAHintAndNamesItself) {
  ASSERT_FALSE(NamedSamplers().empty());
  for (const NamedSampler& named : NamedSamplers()) {
    const Result<SamplerDescription> made = ResolveSamplerHint(HintOf(named, "3"));
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_FALSE(made->sampler->Describe().empty()) << named.name;
    EXPECT_EQ(made->is_endless, named.is_endless) << named.name;
    // What a hint lacks, the failure says of the sampler by its name.
    SamplerHint bare;
    bare.sampler = named.name;
    if (const SamplerResult without_seed = named.make(bare); !without_seed.ok()) {
      EXPECT_EQ(without_seed.status().code(), Code::kInvalid);
      EXPECT_THAT(without_seed.status().text(), HasSubstr("--sampler " + std::string(named.name) + ": "));
    }
  }
}

TEST(SamplerRegistryTest, EachSamplerGivesPermutations) {
  for (const NamedSampler& named : NamedSamplers()) {
    if (std::ranges::find(kNoPermutations, named.name) != std::end(kNoPermutations)) continue;
    const SamplerResult sampler = named.make(HintOf(named, "3"));
    ASSERT_TRUE(sampler.ok()) << sampler.status().text();
    for (const uint64_t samples : {1, 2, 3, 10, 257, 1000, 4096}) {
      IndexOrder all(samples);
      std::iota(all.begin(), all.end(), 0U);
      for (const uint64_t epoch : {0, 1, 5}) {
        IndexOrder order;
        (*sampler)->Take(samples, epoch, SIZE_MAX, &order);
        std::ranges::sort(order);
        EXPECT_EQ(order, all) << named.name << ", " << samples << " samples, epoch " << epoch;
      }
    }
  }
}

TEST(SamplerRegistryTest, TheDocumentHasAllNamesAndNoOthers) {
  std::set<std::string> in_document = NamesInDocument();
  std::erase_if(in_document, [](const std::string& name) { return name.starts_with("--"); });
  std::set<std::string> registered;
  for (const NamedSampler& named : NamedSamplers()) registered.insert(std::string(named.name));
  EXPECT_EQ(in_document, registered);
}

TEST(SamplerRegistryTest, TheFailureOfAWrongNameListsAllInTheirOrder) {
  std::string names;
  for (const NamedSampler& named : NamedSamplers()) names += (names.empty() ? "" : ", ") + std::string(named.name);
  EXPECT_THAT(ResolveSamplerHint({}).status().text(), HasSubstr("give one of " + names));
  EXPECT_THAT(names, HasSubstr("torch, torch-1.8"));
}

TEST(SamplerRegistryTest, EachFamilyHasItsOwnTurn) {
  std::set<uint32_t> turns;
  for (const RegisteredFamily& row : SamplerRegistry()) {
    EXPECT_TRUE(turns.insert(row.turn).second) << row.turn;
    EXPECT_FALSE(row.family->named.empty()) << row.turn;
  }
}

TEST(SamplerRegistryTest, ASeedThatWasSearchedForMayBeOfAListOrOfKeras) {
  const auto texts = [](ListShuffler shuffler) {
    std::vector<std::string> all;
    for (const auto& sampler : SamplersOfSeed(shuffler, 77)) all.push_back(sampler->Describe());
    return all;
  };
  const std::vector<std::string> python = texts(ListShuffler::kPython);
  EXPECT_THAT(python, SizeIs(4));
  EXPECT_THAT(python, Each(StartsWith("Python random.shuffle, seed 77")));
  const std::vector<std::string> numpy = texts(ListShuffler::kNumpyRandomState);
  EXPECT_THAT(numpy, SizeIs(20));
  EXPECT_THAT(numpy, Each(AnyOf(StartsWith("numpy RandomState shuffle, seed 77"),
                                StartsWith("Keras image_dataset_from_directory, seed 77"))));
  EXPECT_THAT(numpy.front(), StartsWith("numpy"));
}

}  // namespace
}  // namespace augur
