// SPDX-License-Identifier: Apache-2.0
#include "predict/run_recorder.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "predict/recognize_run.h"
#include "samplers/torch_recipes.h"
#include "unit/datasets/order_fixture.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

// A recorder of the runs of a store with one list.
class RunRecorderTest : public OrderTest {
 protected:
  static constexpr uint32_t kSamples = 400;

  void SetUp() override {
    OrderTest::SetUp();
    std::vector<std::string> files;
    for (uint32_t i = 0; i < kSamples; ++i) {
      files.push_back("train/c" + std::to_string(i % 4) + "/" + std::to_string(10'000 + i) + ".jpg");
    }
    Make(files);
    lists_ = std::make_unique<SampleLists>(opened_);
    const auto train = lists_->Make("torchvision ImageFolder", "train");
    ASSERT_TRUE(train.ok()) << train.status().text();
    train_ = *train;
    auto runs = ReplayStore::Open(folder_ + "/replay", opened_->summary());
    ASSERT_TRUE(runs.ok()) << runs.status().text();
    runs_ = std::move(runs).value();
  }

  RunRecorder Recorder(uint64_t files_max = kSamples) {
    return RunRecorder({.runs = runs_.get(), .lists = lists_.get(), .files_max = files_max});
  }
  Order Shuffled(uint64_t seed) const {
    std::mt19937_64 random(seed);
    return FilesOf(*train_, RandomOrder(kSamples, random));
  }
  // The epochs of all recorded runs, in files.
  std::vector<uint64_t> Recorded() const {
    std::vector<uint64_t> files;
    const auto list = runs_->List();
    EXPECT_TRUE(list.ok());
    if (!list.ok()) return files;
    for (const ReplayRun& run : *list) files.insert(files.end(), run.epoch_files.begin(), run.epoch_files.end());
    return files;
  }

  std::unique_ptr<SampleLists> lists_;
  std::shared_ptr<const SampleList> train_;
  std::unique_ptr<ReplayStore> runs_;
};

TEST_F(RunRecorderTest, AnEpochWhoseOrderWasNotFoundIsRecognizedTheNextTime) {
  const Order order = Shuffled(1);
  RunRecorder recorder = Recorder();
  for (const EntryNumber file : order) recorder.OnRead(file);
  recorder.RecordSeen(nullptr);
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{kSamples});
  std::mt19937_64 random(2);
  std::vector<EntryNumber> tried;
  const auto found = RecognizeRun(*runs_, FirstReads(order, {.workers = 1}, 48, random), &tried);
  if (!found) FAIL() << "not found";
  EXPECT_EQ(found->order->files(), order);
  EXPECT_FALSE(found->run.empty());
  EXPECT_EQ(found->run_epoch, 0U);
  tried.clear();
  EXPECT_FALSE(RecognizeRun(*runs_, FirstReads(Shuffled(3), {.workers = 1}, 48, random), &tried).has_value());
}

TEST_F(RunRecorderTest, AnEpochThatWasBrokenOffIsNotRecorded) {
  RunRecorder recorder = Recorder();
  Order part = Shuffled(1);
  part.resize(kSamples * 3 / 4);
  for (const EntryNumber file : part) recorder.OnRead(file);
  recorder.RecordSeen(nullptr);
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{});
}

// A sampler with weights draws as many files as it is told to: here twice as many as the list has.
TEST_F(RunRecorderTest, AnEpochOfTwiceTheListIsRecordedWhole) {
  RunRecorder recorder = Recorder();
  std::mt19937_64 random(1);
  Order drawn;
  while (drawn.size() < 2 * kSamples) drawn.push_back(train_->files()[random() % kSamples]);
  for (const EntryNumber file : drawn) recorder.OnRead(file);
  recorder.RecordSeen(nullptr);
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{drawn.size()});
}

TEST_F(RunRecorderTest, NothingIsRecordedBehindAGap) {
  RunRecorder recorder = Recorder();
  recorder.Missed();
  for (const EntryNumber file : Shuffled(1)) recorder.OnRead(file);
  recorder.RecordSeen(nullptr);
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{});
}

// A known seed needs no record. A seed that was searched for does, and the epochs after it.
TEST_F(RunRecorderTest, OnlyAnOrderThatWasSearchedForIsRecorded) {
  IdentifiedOrder known = MakeIdentifiedOrder(train_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch", 5))});
  RunRecorder first = Recorder();
  first.RecordKnown(known);
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{});
  RunRecorder second = Recorder();
  known.seed = 5;
  second.RecordKnown(known);
  known.seed.reset();
  second.RecordKnown(known);
  EXPECT_EQ(Recorded(), (std::vector<uint64_t>{kSamples, kSamples}));
}

// What would not be loaded again is not recorded.
TEST_F(RunRecorderTest, ARecordHasAMaximum) {
  IdentifiedOrder known = MakeIdentifiedOrder(train_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch", 5))});
  known.seed = 5;
  RunRecorder recorder = Recorder(kSamples / 4);
  for (int epoch = 0; epoch < 6; ++epoch) recorder.RecordKnown(known);
  EXPECT_EQ(Recorded().size(), 4U);
  RunRecorder roomy = Recorder(uint64_t{10} * kSamples);
  known.order = std::make_shared<const EpochOrder>(Shuffled(7));
  for (size_t epoch = 0; epoch < RunRecorder::kEpochsMax + 2; ++epoch) roomy.RecordKnown(known);
  EXPECT_EQ(Recorded().size(), 4U + RunRecorder::kEpochsMax);
}

TEST_F(RunRecorderTest, WithoutAFolderNothingIsKept) {
  RunRecorder recorder({});
  for (const EntryNumber file : Shuffled(1)) recorder.OnRead(file);
  recorder.RecordSeen(nullptr);
  recorder.RecordKnown(MakeIdentifiedOrder(train_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch", 5))}));
  EXPECT_EQ(Recorded(), std::vector<uint64_t>{});
}

}  // namespace
}  // namespace augur
