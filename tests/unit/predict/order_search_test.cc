// SPDX-License-Identifier: Apache-2.0
#include "predict/order_search.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "predict/later_epochs.h"
#include "samplers/keras_sampler.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

// Answers on ordinary threads: a machine that runs tests has no idle core.
std::optional<IdentifiedOrder> Ask(SearchRequest request) {
  auto searcher = Searcher::Start({.threads = 2, .idle_class = false});
  EXPECT_TRUE(searcher.ok()) << searcher.status().text();
  std::promise<std::optional<IdentifiedOrder>> answer;
  const auto search = std::make_shared<OrderSearch>(
      **searcher, std::make_shared<const std::vector<KnownSampler>>(KnownSamplers()), std::move(request),
      [&answer](std::optional<IdentifiedOrder> found) { answer.set_value(std::move(found)); });
  search->Begin();
  return answer.get_future().get();
}

// What one process reads from this place on: enough to believe one of some ten thousand guesses, too little for 2^32.
SearchRequest ReadsMidEpoch(const std::shared_ptr<const SampleList>& list, const Sampler& truth, uint64_t epoch,
                            size_t place, size_t reads = 5) {
  const Order files = FilesOf(*list, EpochOf(truth, list->size(), epoch));
  EpochStart start;
  start.job = 1;
  EpochStream& stream = start.streams.emplace_back();
  stream.id = 1;
  for (size_t i = place; i < place + reads; ++i) stream.reads.push_back({.file = files[i]});
  stream.read_count = stream.reads.size();
  SearchRequest request;
  request.tests.emplace_back(list, start);
  return request;
}

// Epoch 777 of a seed that a framework has by default, of more samples than all guesses can be drawn of in a second.
TEST(OrderSearchTest, ARunThatWasResumedInTheMidstOfALaterEpoch) {
  const auto list = ListOf(20'000);
  const auto truth = MakeTorchSampler(FreshSeedRecipe("truth", 42));
  const std::optional<IdentifiedOrder> found = Ask(ReadsMidEpoch(list, *truth, 777, 7770));
  if (!found) FAIL() << "not found";
  EXPECT_EQ(found->order->files(), FilesOf(*list, EpochOf(*truth, list->size(), 777)));
  EXPECT_EQ(found->begin, 7770U);
  EXPECT_GE(found->bits, CandidateScorer::kBelievedBits);
  // It goes on by itself.
  const Guess next = {.sampler = found->guess.sampler, .epoch = found->guess.epoch + 1};
  EXPECT_EQ(EpochOf(*next.sampler, list->size(), next.epoch), EpochOf(*truth, list->size(), 778));
}

// ... of which a core-second has the likeliest, before the search of all seeds, for which there are reads enough here.
TEST(OrderSearchTest, ALikelyLaterEpochIsKnownBeforeAllSeedsAreSearched) {
  auto searcher = Searcher::Start({.threads = 2, .idle_class = false});
  ASSERT_TRUE(searcher.ok()) << searcher.status().text();
  const auto list = ListOf(20'000);
  SearchRequest request = ReadsMidEpoch(list, *MakeTorchSampler(FreshSeedRecipe("truth", 42)), 400, 7770, 12);
  ASSERT_TRUE(OrderSearch::Decidable(request));
  std::promise<std::optional<IdentifiedOrder>> answer;
  const auto search = std::make_shared<OrderSearch>(
      **searcher, std::make_shared<const std::vector<KnownSampler>>(KnownSamplers()), std::move(request),
      [&answer](std::optional<IdentifiedOrder> found) { answer.set_value(std::move(found)); });
  search->Begin();
  EXPECT_TRUE(answer.get_future().get().has_value());
  EXPECT_FALSE(search->searched());
}

// Such a run begins with its job; a later pass of a job is not looked for so far.
TEST(OrderSearchTest, ALaterPassIsNotTakenForAResumedRun) {
  const auto list = ListOf(20'000);
  SearchRequest request = ReadsMidEpoch(list, *MakeTorchSampler(FreshSeedRecipe("truth", 42)), 777, 7770);
  request.resumed = false;
  EXPECT_FALSE(Ask(std::move(request)).has_value());
}

// A script that draws its seeds is not asked for all known ones in each epoch before its own is looked for.
TEST(OrderSearchTest, AllSeedsComeFirstWhereAnEpochBeforeHadOneOfThem) {
  auto searcher = Searcher::Start({.threads = 2, .idle_class = false});
  ASSERT_TRUE(searcher.ok()) << searcher.status().text();
  const auto known = std::make_shared<const std::vector<KnownSampler>>(KnownSamplers());
  const auto list = ListOf(20'000);
  const auto truth = MakeTorchSampler(FreshSeedRecipe("truth", 0xdeadbeef));
  for (const bool drawn : {false, true}) {
    std::promise<std::optional<IdentifiedOrder>> answer;
    SearchRequest request;
    EpochStart start;
    start.job = 1;
    EpochStream& stream = start.streams.emplace_back();
    stream.id = 1;
    for (const EntryNumber file : FilesOf(*list, EpochOf(*truth, list->size(), 0))) {
      if (stream.reads.size() < 12) stream.reads.push_back({.file = file});
    }
    stream.read_count = stream.reads.size();
    request.tests.emplace_back(list, start);
    ASSERT_TRUE(OrderSearch::Decidable(request));
    request.drawn = drawn;
    const auto search = std::make_shared<OrderSearch>(
        **searcher, known, std::move(request),
        [&answer](std::optional<IdentifiedOrder> found) { answer.set_value(std::move(found)); });
    search->Begin();
    const std::string stage = search->Describe();
    EXPECT_TRUE(stage.starts_with(drawn ? "all seeds of torch" : "known seeds")) << stage;
    search->Cancel();
    EXPECT_FALSE(answer.get_future().get().has_value());
  }
}

// keras.utils.image_dataset_from_directory draws its seed of 10^6. Threads of one process read: that is known before
// all seeds of torch are searched, and by what Keras does with it, so that the next epoch, another one, is known as
// well.
TEST(OrderSearchTest, SeedsOfListsComeBeforeAllOfTorchsWhereThreadsRead) {
  auto searcher = Searcher::Start({.threads = 2, .idle_class = false});
  ASSERT_TRUE(searcher.ok()) << searcher.status().text();
  const auto list = ListOf(20'000);
  const KerasImageSampler truth({.seed = 271'828, .batch_samples = 16});
  SearchRequest request = ReadsMidEpoch(list, truth, 0, 0, 60);
  ASSERT_TRUE(OrderSearch::Decidable(request));
  request.lists_first = true;
  std::promise<std::optional<IdentifiedOrder>> answer;
  const auto search = std::make_shared<OrderSearch>(
      **searcher, std::make_shared<const std::vector<KnownSampler>>(KnownSamplers()), std::move(request),
      [&answer](std::optional<IdentifiedOrder> found) { answer.set_value(std::move(found)); });
  search->Begin();
  const std::optional<IdentifiedOrder> found = answer.get_future().get();
  EXPECT_FALSE(search->searched());
  if (!found) FAIL() << "not found";
  EXPECT_EQ(found->order->files(), FilesOf(*list, EpochOf(truth, list->size(), 0)));
  EXPECT_EQ(EpochOf(*found->guess.sampler, list->size(), 1), EpochOf(truth, list->size(), 1));
  EXPECT_GE(found->bits, CandidateScorer::kBelievedBits);
}

TEST(LaterEpochsTest, TheDefaultsFirstEachOrderOnceAndNoMoreThanAsked) {
  const std::vector<KnownSampler> known = KnownSamplers();
  const std::vector<Guess> all = LaterEpochs(known, 1'000'000);
  ASSERT_GT(all.size(), 5000U);
  ASSERT_LT(all.size(), 20'000U);
  std::set<IndexOrder> beginnings;
  for (size_t i = 0; i < all.size(); i += i < 3000 ? 1 : 37) {
    IndexOrder beginning;
    all[i].sampler->Take(1'000'000, all[i].epoch, 4, &beginning);
    EXPECT_TRUE(beginnings.insert(beginning).second) << i;
  }
  // Seeds 0 and 42, 1,000 epochs each, of which 958 are both's.
  for (size_t i = 0; i < 1042; ++i) {
    const std::string what = all[i].sampler->Describe();
    EXPECT_TRUE(what.find("seed 0 ") != std::string::npos || what.find("seed 42 ") != std::string::npos) << what;
  }
  EXPECT_EQ(all[1042].epoch, 0U);
  EXPECT_EQ(LaterEpochs(known, 17).size(), 17U);
  EXPECT_TRUE(LaterEpochs(known, 0).empty());
}

}  // namespace
}  // namespace augur
