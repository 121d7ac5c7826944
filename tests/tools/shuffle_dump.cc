// SPDX-License-Identifier: Apache-2.0
// The orders of src/samplers that no hint can name, for tests that hold them against the real libraries.
//
// Usage: shuffle_dump WORD... ; words are those of the table at the end, numbers after them. Prints the numbers of the
// order, separated by spaces. Exit 2 with a line on stderr: wrong words.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "samplers/dali_sampler.h"
#include "samplers/end_shuffle_search.h"
#include "samplers/keras_sampler.h"
#include "samplers/list_shuffle.h"
#include "samplers/numpy_random.h"
#include "samplers/python_random.h"
#include "samplers/python_sampler.h"
#include "samplers/tf_shuffle.h"
#include "samplers/webdataset_sampler.h"

namespace augur {
namespace {

// Words of the command line, taken one after the other; those that are missing are 0.
class Words {
 public:
  explicit Words(std::span<char* const> words) : words_(words) {}

  int64_t Next() {
    if (words_.empty()) return 0;
    const std::string_view word = words_.front();
    words_ = words_.subspan(1);
    int64_t number = 0;
    uint64_t large = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc()) return number;
    std::from_chars(word.data(), word.data() + word.size(), large);
    return static_cast<int64_t>(large);
  }
  uint64_t NextU() { return static_cast<uint64_t>(Next()); }
  uint32_t Next32() { return static_cast<uint32_t>(Next()); }
  bool empty() const { return words_.empty(); }

 private:
  std::span<char* const> words_;
};

// The first words after a sampler's name are always: samples, epoch, count (0: all).
IndexOrder Taken(const Sampler& sampler, uint64_t samples, uint64_t epoch, uint64_t count) {
  IndexOrder indices;
  sampler.Take(samples, epoch, count == 0 ? std::numeric_limits<size_t>::max() : count, &indices);
  return indices;
}

IndexOrder List(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  ListShuffleSampler::Recipe recipe;
  recipe.shuffler = static_cast<ListShuffler>(words.Next());
  recipe.seed = words.NextU();
  recipe.epochs = static_cast<ListEpochs>(words.Next());
  recipe.batch_samples = std::max(words.Next32(), 1U);
  return Taken(ListShuffleSampler(recipe), samples, epoch, count);
}

IndexOrder Tf(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  const TfSeeds seeds{words.NextU(), words.NextU()};
  const uint64_t buffer = words.NextU();
  return Taken(TfShuffleSampler(seeds, buffer, static_cast<TfEpochs>(words.Next())), samples, epoch, count);
}

IndexOrder TfSeed(Words words) {
  const int64_t rule = words.Next(), first = words.Next(), second = words.Next();
  const TfSeeds seeds = rule == 0   ? TfSeedsOfOp(first)
                        : rule == 1 ? TfSeedsOfBoth(first, second)
                                    : TfSeedsOfGlobal(first, static_cast<uint64_t>(second));
  return {static_cast<uint32_t>(seeds.seed), static_cast<uint32_t>(seeds.seed2)};
}

IndexOrder Keras(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  KerasImageSampler::Recipe recipe;
  recipe.seed = words.Next32();
  recipe.batch_samples = words.Next32();
  recipe.second_shuffle = words.Next() != 0;
  recipe.validation_split = static_cast<double>(words.Next()) / 1000;
  recipe.part = static_cast<KerasImageSampler::Part>(words.Next());
  if (!words.empty()) recipe.global_seed = words.Next();
  return Taken(KerasImageSampler(recipe), samples, epoch, count);
}

IndexOrder Dali(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  DaliFileSampler::Recipe recipe;
  recipe.epochs = static_cast<DaliFileSampler::Epochs>(words.Next());
  recipe.seed = words.Next();
  recipe.shards = words.NextU();
  recipe.checkpointing = words.Next() != 0;
  recipe.way = static_cast<StdShuffle>(words.Next());
  return Taken(DaliFileSampler(recipe), samples, epoch, count);
}

IndexOrder Webdataset(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  WebdatasetSampler::Recipe recipe;
  recipe.seed = words.NextU();
  recipe.buffer_shards = words.NextU();
  recipe.initial_shards = words.NextU();
  recipe.seed_plus_epoch = words.Next() != 0;
  recipe.workers = words.NextU();
  return Taken(WebdatasetSampler(recipe), samples, epoch, count);
}

// seed, n, count: random.sample(range(n), count)
IndexOrder PythonSample(Words words) {
  PythonRandom random(words.NextU());
  const uint32_t n = words.Next32();
  return random.Sample(n, words.Next32());
}

IndexOrder PythonEpoch(Words words) {
  const uint64_t samples = words.NextU(), epoch = words.NextU(), count = words.NextU();
  PythonSampleSampler::Recipe recipe;
  recipe.seed = words.NextU();
  recipe.epochs = static_cast<SampleEpochs>(words.Next());
  recipe.loaders_before = words.NextU();
  return Taken(PythonSampleSampler(recipe), samples, epoch, count);
}

// seed, count, end: random.choice(range(end)), one after the other
IndexOrder PythonChoice(Words words) {
  PythonRandom random(words.NextU());
  IndexOrder numbers(words.NextU());
  const uint32_t end = words.Next32();
  for (uint32_t& number : numbers) number = random.Draw(end - 1);
  return numbers;
}

// seed: what Keras draws for a seed
IndexOrder KerasSeed(Words words) { return {KerasSeedAfter(words.Next32())}; }

// shuffler, samples, slack, first seed, seed behind the last, reads
IndexOrder Search(Words words) {
  FirstReads first;
  first.shuffler = static_cast<ListShuffler>(words.Next());
  first.samples = words.NextU();
  first.slack = words.NextU();
  const uint64_t begin = words.NextU(), end = words.NextU();
  while (!words.empty()) first.reads.push_back(words.Next32());
  IndexOrder seeds;
  for (const uint64_t seed : EndShuffleSearch(first).Search(begin, end)) seeds.push_back(static_cast<uint32_t>(seed));
  return seeds;
}

constexpr std::pair<std::string_view, IndexOrder (*)(Words)> kTable[] = {
    {"list", List},
    {"tf", Tf},
    {"tf-seed", TfSeed},
    {"keras", Keras},
    {"dali", Dali},
    {"webdataset", Webdataset},
    {"python-sample", PythonSample},
    {"python-choice", PythonChoice},
    {"python-epoch", PythonEpoch},
    {"keras-seed", KerasSeed},
    {"search", Search},
};

int Main(std::span<char* const> arguments) {
  for (const auto& [name, make] : kTable) {
    if (arguments.size() < 2 || arguments[1] != name) continue;
    for (const uint32_t index : make(Words(arguments.subspan(2)))) std::printf("%u ", index);
    std::printf("\n");
    return 0;
  }
  std::fprintf(stderr, "usage: shuffle_dump list|tf|... NUMBER...\n");
  return 2;
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) { return augur::Main({argv, static_cast<size_t>(argc)}); }
