// SPDX-License-Identifier: Apache-2.0
#include "predict/job_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "predict/try_known_samplers.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

using Change = JobPredictor::Change;

// A job that is asked about as the OrderPredictor does: whenever nothing is predicted, by what is expected.
class JobPredictorTest : public testing::Test {
 protected:
  Guess Distributed(uint64_t seed, uint64_t epoch = 0) const {
    return {.sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", seed)), .epoch = epoch};
  }
  Order EpochFiles(const SampleList& list, const Guess& guess) const {
    return FilesOf(list, EpochOf(*guess.sampler, list.size(), guess.epoch));
  }

  // What was said by the reads of these files, in the order of a loader; `kept` of the epoch's reads are made.
  std::vector<Change> Read(const Order& files, const LoaderPlan& plan = {.workers = 4}) {
    return Feed(files, LoaderReads(static_cast<uint32_t>(files.size()), plan, random_));
  }
  std::vector<Change> Feed(const Order& files, const std::vector<LoaderRead>& reads) {
    std::vector<Change> changes;
    for (const LoaderRead& read : reads) {
      const Change one = job_.OnRead(files[read.place], read.stream, false, view_);
      if (one != Change::kNothing) changes.push_back(one);
      if (!job_.locked()) Ask();
    }
    return changes;
  }

  void Ask() {
    if (tests_.empty() || job_.reads().size() < 4) return;
    ++asked_;
    SearchRequest request;
    for (const auto& list : tests_) request.tests.emplace_back(list, job_.Unpredicted());
    request.expected = job_.history().Expected();
    for (const Guess& guess : also_) request.expected.push_back(guess);
    if (std::optional<IdentifiedOrder> found = TryKnownSamplers(request, {})) {
      reads_until_lock_.push_back(job_.reads().size());
      job_.Lock(std::move(*found));
    }
  }

  std::mt19937_64 random_{5};
  JobPredictor job_{1};
  std::shared_ptr<const SampleList> list_ = ListOf(10'000);
  // What the job is asked about when nothing is predicted.
  std::vector<std::shared_ptr<const SampleList>> tests_;
  std::vector<Guess> also_;
  size_t asked_ = 0;
  std::vector<size_t> reads_until_lock_;
  uint32_t view_ = 0;  // in which is read
};

TEST_F(JobPredictorTest, RollsFromEpochToEpoch) {
  for (const LoaderPlan& plan :
       {LoaderPlan{.workers = 1}, LoaderPlan{.workers = 4}, LoaderPlan{.workers = 8, .batch = 64}}) {
    job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
    ASSERT_EQ(job_.Coming().size(), 1 + JobPredictor::kAhead);
    for (uint64_t epoch = 0; epoch < 5; ++epoch) {
      const std::vector<Change> changes = Read(EpochFiles(*list_, Distributed(5, epoch)), plan);
      EXPECT_EQ(changes, std::vector<Change>(epoch == 0 ? 0 : 1, Change::kRolled)) << "epoch " << epoch;
      ASSERT_TRUE(job_.locked());
      EXPECT_EQ(job_.running().guess.epoch, epoch);
      EXPECT_EQ(job_.Coming().size(), 1 + JobPredictor::kAhead);
    }
    EXPECT_LE(job_.misses(), 25U);
    EXPECT_GE(job_.hits(), 5 * 10'000 - 200U);
  }
}

// An order was looked for by the reads of one rank, and meanwhile others have begun: their reads are no sign against
// it.
TEST_F(JobPredictorTest, RanksThatBeginWhileTheOrderIsLookedFor) {
  constexpr uint64_t kWorld = 8;
  constexpr size_t kReadsBefore = 20;
  const auto list = ListOf(2000);
  Guess guess = Distributed(5);
  const Order whole = EpochFiles(*list, guess);
  EpochStart epoch;
  for (const uint64_t rank : {2U, 3U, 5U}) {
    EpochStream& stream = epoch.streams.emplace_back();
    stream.id = static_cast<StreamId>(rank);
    for (size_t i = 0; i < kReadsBefore; ++i) stream.reads.push_back({.file = whole[rank + i * kWorld]});
  }
  job_.Begin(epoch);
  guess.share = {.world_size = kWorld, .ranks = {2}};
  job_.Lock(MakeIdentifiedOrder(list, guess));
  EXPECT_EQ(job_.running().guess.share.Describe(), "ranks 2-3,5 of 8");
  for (size_t i = kReadsBefore; i < 2000 / kWorld; ++i) {
    for (const uint64_t rank : {2U, 3U, 5U}) {
      EXPECT_EQ(job_.OnRead(whole[rank + i * kWorld], static_cast<StreamId>(rank)), Change::kNothing);
    }
  }
  EXPECT_EQ(job_.misses(), 0U);
}

TEST_F(JobPredictorTest, PartsKeepTheirOrders) {
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
  const std::vector<JobPredictor::Part> before = job_.Coming();
  (void)Read(EpochFiles(*list_, Distributed(5)));
  (void)Read(EpochFiles(*list_, Distributed(5, 1)));
  const std::vector<JobPredictor::Part> after = job_.Coming();
  ASSERT_EQ(before.size(), 3U);
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[0].order, before[1].order);
  EXPECT_EQ(after[1].order, before[2].order);
  EXPECT_EQ(after[0].order->files(), EpochFiles(*list_, Distributed(5, 1)));
}

// Workers that live on begin the next epoch while the last batches of this one are still read.
TEST_F(JobPredictorTest, TheNextEpochBeginsBeforeThisOneEnds) {
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
  Order run;
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    const Order files = EpochFiles(*list_, Distributed(5, epoch));
    run.insert(run.end(), files.begin(), files.end());
  }
  const std::vector<Change> changes = Read(run);
  EXPECT_EQ(changes, std::vector<Change>(3, Change::kRolled));
  EXPECT_LE(job_.misses(), 25U);
  EXPECT_GE(job_.hits(), 39'000U);
}

// Where the ranks' last batches are filled up with the first files of the epoch (accelerate's even_batches): those are
// read once more while the next epoch begins.
TEST_F(JobPredictorTest, TheLastBatchesAreFilledUp) {
  for (const size_t filled : {1U, 32U, 150U}) {
    JobPredictor job(1);
    job.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
    Order run;
    for (uint64_t epoch = 0; epoch < 4; ++epoch) {
      const Order files = EpochFiles(*list_, Distributed(5, epoch));
      run.insert(run.end(), files.begin(), files.end());
      run.insert(run.end(), files.begin(), files.begin() + static_cast<std::ptrdiff_t>(filled));
    }
    std::vector<Change> changes;
    for (const LoaderRead& read : LoaderReads(static_cast<uint32_t>(run.size()), {.workers = 4}, random_)) {
      // Its open is told, and its READ.
      for (const bool open : {true, false}) {
        const Change one = job.OnRead(run[read.place], read.stream, open);
        if (one != Change::kNothing) changes.push_back(one);
      }
    }
    EXPECT_EQ(changes, std::vector<Change>(3, Change::kRolled)) << filled;
    EXPECT_EQ(job.running().guess.epoch, 3U);
  }
}

// drop_last: the last files of the order are never read.
TEST_F(JobPredictorTest, TheLastBatchIsDropped) {
  for (const uint32_t samples : {1000U, 10'000U}) {
    for (const uint32_t dropped : {40U, 63U, 500U}) {
      if (dropped * 16 > samples) continue;
      const auto list = ListOf(samples);
      job_.Lock(MakeIdentifiedOrder(list, Distributed(6)));
      for (uint64_t epoch = 0; epoch < 4; ++epoch) {
        Order files = EpochFiles(*list, Distributed(6, epoch));
        files.resize(files.size() - dropped);
        const std::vector<Change> changes = Read(files);
        EXPECT_EQ(changes, std::vector<Change>(epoch == 0 ? 0 : 1, Change::kRolled))
            << "epoch " << epoch << " of " << samples << " without " << dropped;
        ASSERT_TRUE(job_.locked());
        EXPECT_EQ(job_.running().guess.epoch, epoch);
      }
    }
  }
}

// A pass over the validation set after each epoch, in its order: known once it was seen.
TEST_F(JobPredictorTest, ValidationBetweenTheEpochs) {
  const auto validation = ListOf(1000, 50'000, "val");
  TorchRecipe recipe = FreshSeedRecipe("in the order of the list", 0, 0);
  recipe.draw = TorchRecipe::Draw::kNone;
  const auto in_order = MakeTorchSampler(recipe);
  tests_ = {list_, validation};
  also_ = {{.sampler = in_order}, Distributed(5)};
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    const std::vector<Change> train = Read(EpochFiles(*list_, Distributed(5, epoch)));
    ASSERT_TRUE(job_.locked()) << "epoch " << epoch;
    EXPECT_EQ(job_.running().list, list_) << "epoch " << epoch;
    EXPECT_EQ(job_.running().guess.epoch, epoch);
    const std::vector<Change> val = Read(validation->files(), {.workers = 1});
    ASSERT_TRUE(job_.locked()) << "epoch " << epoch;
    EXPECT_EQ(job_.running().list, validation) << "epoch " << epoch;
    if (epoch < 2) continue;
    EXPECT_EQ(train, std::vector<Change>(1, Change::kRolled)) << "epoch " << epoch;
    EXPECT_EQ(val, std::vector<Change>(1, Change::kRolled)) << "epoch " << epoch;
  }
  for (const size_t reads : reads_until_lock_) EXPECT_LE(reads, 32U);
}

// Training in one view and validation in another: each comes in its own, once that was seen.
TEST_F(JobPredictorTest, EachSetIsPredictedInTheViewInWhichItWasRead) {
  const auto validation = ListOf(1000, 50'000, "val");
  TorchRecipe recipe = FreshSeedRecipe("in the order of the list", 0, 0);
  recipe.draw = TorchRecipe::Draw::kNone;
  tests_ = {list_, validation};
  also_ = {{.sampler = MakeTorchSampler(recipe)}, Distributed(5)};
  const auto views = [&] {
    std::vector<uint32_t> of_parts;
    for (const JobPredictor::Part& part : job_.Coming()) of_parts.push_back(part.view);
    return of_parts;
  };
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    view_ = 3;
    const std::vector<Change> train = Read(EpochFiles(*list_, Distributed(5, epoch)));
    ASSERT_TRUE(job_.locked());
    EXPECT_EQ(job_.view(), 3U);
    EXPECT_EQ(std::ranges::count(train, Change::kTurned), 0);
    if (epoch > 1) {
      EXPECT_EQ(views(), (std::vector<uint32_t>{3, 7, 3}));
    }
    view_ = 7;
    const std::vector<Change> val = Read(validation->files(), {.workers = 1});
    ASSERT_TRUE(job_.locked());
    EXPECT_EQ(job_.view(), 7U);
    EXPECT_EQ(std::ranges::count(val, Change::kTurned), 0);
    if (epoch > 1) {
      EXPECT_EQ(views(), (std::vector<uint32_t>{7, 3, 7}));
    }
  }
  // The script has changed its mind.
  view_ = 4;
  const std::vector<Change> train = Read(EpochFiles(*list_, Distributed(5, 4)));
  EXPECT_EQ(std::ranges::count(train, Change::kTurned), 1);
  EXPECT_EQ(views(), (std::vector<uint32_t>{4, 7, 4}));
}

// Of the data set that comes next; that the seed of another one was searched for says nothing.
TEST_F(JobPredictorTest, ADrawnSeedIsOfItsDataSet) {
  const auto val = ListOf(500, 50'000, "val");
  IdentifiedOrder searched = MakeIdentifiedOrder(val, Distributed(3));
  searched.seed = 3;
  job_.Lock(searched);
  EXPECT_TRUE(job_.history().Drawn());
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
  EXPECT_FALSE(job_.history().Drawn());
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(6)));
  EXPECT_FALSE(job_.history().Drawn());
}

// The order after the epoch is not known: it is looked for by the reads behind the epoch, and not by its last ones.
TEST_F(JobPredictorTest, AnEpochThatNothingFollows) {
  IdentifiedOrder found = MakeIdentifiedOrder(list_, Distributed(5));
  found.continues = false;
  found.seed = 5;
  job_.Lock(found);
  EXPECT_EQ(job_.Coming().size(), 1U);
  EXPECT_EQ(Read(EpochFiles(*list_, Distributed(5))), std::vector<Change>{Change::kEnded});
  EXPECT_FALSE(job_.locked());
  EXPECT_TRUE(job_.reads().empty());
  EXPECT_NE(job_.Describe(), "");
  const std::vector<Guess> expected = job_.history().Expected();
  ASSERT_FALSE(expected.empty());
  // The next one tells how it follows.
  tests_ = {list_};
  EXPECT_EQ(Read(EpochFiles(*list_, Distributed(6))), std::vector<Change>());
  ASSERT_TRUE(job_.locked());
  EXPECT_EQ(Read(EpochFiles(*list_, Distributed(7))), std::vector<Change>{Change::kRolled});
  ASSERT_EQ(reads_until_lock_.size(), 1U);
  EXPECT_LE(reads_until_lock_[0], 8U);
}

TEST_F(JobPredictorTest, ASamplerThatChangesIsLostAndFoundAgain) {
  for (const uint32_t samples : {2000U, 10'000U}) {
    const auto list = ListOf(samples);
    // Between two epochs, and in the middle of one.
    for (const double part : {1.0, 0.4}) {
      job_.Lock(MakeIdentifiedOrder(list, Distributed(5)));
      tests_.clear();
      Order files = EpochFiles(*list, Distributed(5));
      files.resize(static_cast<size_t>(part * samples));
      EXPECT_TRUE(Read(files).empty());
      tests_ = {list};
      also_ = {Distributed(99)};
      reads_until_lock_.clear();
      const std::vector<Change> changes = Read(EpochFiles(*list, Distributed(99)));
      ASSERT_TRUE(job_.locked()) << samples << " samples, " << part;
      EXPECT_EQ(std::ranges::count(changes, Change::kLost), 1) << samples << " samples, " << part;
      EXPECT_EQ(job_.running().order->files(), EpochFiles(*list, Distributed(99)));
      EXPECT_EQ(reads_until_lock_.size(), 1U);
    }
  }
}

TEST_F(JobPredictorTest, OtherFilesAreLost) {
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
  Order files = EpochFiles(*list_, Distributed(5));
  files.resize(3000);
  (void)Read(files);
  const auto other = ListOf(500, 90'000, "other");
  EXPECT_EQ(Read(other->files(), {.workers = 1}), std::vector<Change>{Change::kLost});
  EXPECT_FALSE(job_.locked());
  // The order is looked for by these reads, from about the first of them on.
  EXPECT_GE(job_.reads().size(), 490U);
  const EpochStart start = job_.Unpredicted();
  ASSERT_EQ(start.streams.size(), 1U);
  EXPECT_LE(start.streams[0].reads[0].file, 90'010U);
}

TEST_F(JobPredictorTest, ARecordedRun) {
  IdentifiedOrder found;
  found.run = "r1";
  std::vector<Order> epochs(4);
  for (Order& epoch : epochs) epoch = FilesOf(*list_, RandomOrder(10'000, random_));
  found.order = std::make_shared<const EpochOrder>(epochs[0]);
  for (int i = 1; i < 4; ++i) found.recorded.push_back(std::make_shared<const Order>(epochs[i]));
  job_.Lock(found);
  EXPECT_EQ(Read(epochs[0]), std::vector<Change>());
  EXPECT_EQ(Read(epochs[1]), std::vector<Change>{Change::kRolled});
  EXPECT_EQ(Read(epochs[2]), std::vector<Change>{Change::kRolled});
  EXPECT_EQ(Read(epochs[3]), (std::vector<Change>{Change::kRolled, Change::kEnded}));
  EXPECT_FALSE(job_.locked());
  EXPECT_TRUE(job_.history().Expected().empty());
}

TEST_F(JobPredictorTest, ARunResumedInMidEpoch) {
  IdentifiedOrder found = MakeIdentifiedOrder(list_, Distributed(5, 3));
  found.begin = 6000;
  job_.Lock(found);
  const Order all = EpochFiles(*list_, Distributed(5, 3));
  EXPECT_EQ(job_.Rest(), Order(all.begin() + 6000, all.end()));
  EXPECT_TRUE(Read(Order(all.begin() + 6000, all.end())).empty());
  EXPECT_EQ(job_.misses(), 0U);
  EXPECT_EQ(Read(EpochFiles(*list_, Distributed(5, 4))), std::vector<Change>{Change::kRolled});
}

// What was read while the order was sought counts as read.
TEST_F(JobPredictorTest, ReadsBeforeTheLockAreOfTheEpoch) {
  const Order files = EpochFiles(*list_, Distributed(5));
  job_.Begin(FirstReads(files, {.workers = 4}, 100, random_));
  EXPECT_EQ(job_.reads().size(), 100U);
  for (size_t i = 1000; i < 1050; ++i) (void)job_.OnRead(files[i], 1);
  EXPECT_EQ(job_.reads().size(), 150U);
  job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
  EXPECT_EQ(job_.hits(), 150U);
  EXPECT_EQ(job_.Rest().size(), 10'000 - 150U);
}

TEST_F(JobPredictorTest, ReadsThatAreNotSeenAndStrangers) {
  for (const bool cached : {false, true}) {
    job_.Lock(MakeIdentifiedOrder(list_, Distributed(5)));
    size_t lost = 0;
    for (uint64_t epoch = 0; epoch < 4; ++epoch) {
      const Order files = EpochFiles(*list_, Distributed(5, epoch));
      for (const LoaderRead& read :
           LoaderReads(10'000, {.workers = 4, .unseen = cached ? 0.5 : 0, .named = false}, random_)) {
        if (random_() % 20 == 0)
          lost += job_.OnRead(70'000 + static_cast<EntryNumber>(random_() % 1000), 0) == Change::kLost;
        lost += job_.OnRead(files[read.place], 0) == Change::kLost;
      }
    }
    EXPECT_EQ(lost, 0U) << (cached ? "cached" : "all seen");
    ASSERT_TRUE(job_.locked());
    EXPECT_EQ(job_.running().guess.epoch, 3U);
  }
}

TEST_F(JobPredictorTest, SaysWhatItKnows) {
  EXPECT_EQ(job_.Describe(), "");
  IdentifiedOrder found = MakeIdentifiedOrder(list_, Distributed(5));
  found.how = "known after 6 reads";
  job_.Lock(found);
  (void)Read(EpochFiles(*list_, Distributed(5)));
  const std::string text = job_.Describe();
  for (const std::string part : {"torch DistributedSampler", "known after 6 reads", "epoch 0", "100.0 %", "train"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace augur
