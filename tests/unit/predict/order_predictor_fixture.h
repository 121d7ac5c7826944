// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "control/statistics.h"
#include "datasets/sample_lists.h"
#include "predict/order_predictor.h"
#include "samplers/sampler_registry.h"
#include "samplers/torch_recipes.h"
#include "unit/datasets/order_fixture.h"
#include "unit/predict/test_reads.h"
#include "unit/readers/trace_simulation.h"

namespace augur {

// A simulation's processes, asked about on one thread while the time goes on on another. A copy: the OrderPredictor's
// thread outlives the simulation.
class SharedProcesses final : public ProcessSource {
 public:
  explicit SharedProcesses(FakeProcesses processes) : processes_(std::move(processes)) {}
  void SetNow(uint64_t now_us) {
    const MutexLock lock(mu_);
    processes_.SetNow(now_us);
  }
  std::optional<ProcessFacts> Look(uint32_t thread) override {
    const MutexLock lock(mu_);
    return processes_.Look(thread);
  }
  LaunchFacts Launch(uint32_t pid) override {
    const MutexLock lock(mu_);
    return processes_.Launch(pid);
  }

 private:
  Mutex mu_;
  FakeProcesses processes_ AUGUR_GUARDED_BY(mu_);
};

// What a prefetch would have of what it is told: a file that is read was there when it was among the next ones.
class FakeOrders final : public PredictedOrders {
 public:
  void Predict(SharedOrder order, uint32_t /*view*/, bool anew) override {
    const MutexLock lock(mu_);
    ++told_;
    const Order& files = order->files();
    files_told_.insert(files.begin(), files.end());
    if (anew) coming_.clear();
    coming_.insert(coming_.end(), files.begin(), files.end());
  }
  void ForgetPredicted() override {
    const MutexLock lock(mu_);
    coming_.clear();
  }
  void NeedOpens(bool needed) override { opens_needed_ = needed; }
  bool opens_needed() const { return opens_needed_; }
  void SetFollowsGiven(bool given) { follows_given_ = given; }
  bool FollowsGiven() const override { return follows_given_; }
  uint64_t PredictedFilesMax() const override { return 1'000'000; }

  bool Read(EntryNumber file) {
    const MutexLock lock(mu_);
    const auto end = coming_.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(coming_.size(), 600));
    const auto found = std::find(coming_.begin(), end, file);
    if (found == end) return false;
    coming_.erase(found);
    return true;
  }
  // All files that were ever to be read ahead.
  std::set<EntryNumber> files_told() const {
    const MutexLock lock(mu_);
    return files_told_;
  }
  uint64_t told() const {
    const MutexLock lock(mu_);
    return told_;
  }

 private:
  mutable Mutex mu_;
  std::deque<EntryNumber> coming_ AUGUR_GUARDED_BY(mu_);
  uint64_t told_ AUGUR_GUARDED_BY(mu_) = 0;
  std::set<EntryNumber> files_told_ AUGUR_GUARDED_BY(mu_);
  std::atomic<bool> opens_needed_ = true;
  std::atomic<bool> follows_given_ = false;
};

// A OrderPredictor of a store with a training and a validation set, which is shown what a simulation's jobs read.
class OrderPredictorTest : public OrderTest {
 protected:
  static constexpr uint32_t kSamples = 1200;
  static constexpr std::string_view kEnded = "nothing now; last, of a job that has ended: ";

  void SetUp() override {
    OrderTest::SetUp();
    std::vector<std::string> files;
    std::array<char, 32> name = {};
    for (uint32_t i = 0; i < samples_; ++i) {
      (void)std::snprintf(name.data(), name.size(), "train/c%u/%05u.jpg", i % 4, i);
      files.emplace_back(name.data());
    }
    for (uint32_t i = 0; i < 100; ++i) {
      (void)std::snprintf(name.data(), name.size(), "val/c%u/%05u.jpg", i % 4, i);
      files.emplace_back(name.data());
    }
    Make(files);
    SampleLists lists(opened_);
    const auto train = lists.Make("torchvision ImageFolder", "train");
    ASSERT_TRUE(train.ok()) << train.status().text();
    train_ = *train;
    ASSERT_EQ(train_->size(), samples_);
    auto known = std::make_shared<std::vector<KnownSampler>>();
    TorchRecipe in_order = FreshSeedRecipe("in the order of the list", 0, 0);
    in_order.draw = TorchRecipe::Draw::kNone;
    known->push_back({.sampler = MakeTorchSampler(std::move(in_order)), .epochs = 1});
    kTorchFamily.add_known(known.get());
    known_ = std::move(known);
  }
  void TearDown() override {
    predictor_.reset();
    OrderTest::TearDown();
  }

  JobPlan PlanOf(std::shared_ptr<const Sampler> sampler) const {
    JobPlan plan;
    plan.order = [this, sampler = std::move(sampler)](uint64_t epoch) {
      return FilesOf(*train_, EpochOf(*sampler, samples_, epoch));
    };
    return plan;
  }

  // Of a sampler that no rule gives.
  static JobPlan PlanOf(std::vector<Order> epochs) {
    JobPlan plan;
    plan.epochs = epochs.size();
    plan.order = [epochs = std::move(epochs)](uint64_t epoch) { return epochs[epoch]; };
    return plan;
  }
  // Epochs of the first `files` of the training set, drawn with replacement.
  std::vector<Order> DrawnWithReplacement(uint64_t seed, size_t epochs, size_t reads, uint32_t files) const {
    std::mt19937_64 random(seed);
    std::vector<Order> drawn(epochs, Order(reads));
    for (Order& epoch : drawn) {
      for (EntryNumber& file : epoch) file = train_->files()[random() % files];
    }
    return drawn;
  }

  // REQUIRES: all jobs are in the simulation.
  void Start(TraceSimulation* simulation, const std::string& replay_folder = "") {
    predictor_.reset();
    processes_ = std::make_unique<SharedProcesses>(simulation->processes());
    predictor_ = std::make_unique<OrderPredictor>(
        opened_, orders_, statistics_,
        OrderPredictorOptions{.memory_bytes = PredictionBytes(opened_->summary().file_count),
                              .search_threads = 1,
                              .search_core_seconds_max = search_core_seconds_max_,
                              .lasting = lasting_,
                              .replay_folder = replay_folder,
                              .accesses_max = accesses_max_,
                              .fetched_files = fetched_files_,
                              .search_idle_class = idle_class_,
                              .processes = processes_.get(),
                              .clock_us = [this] { return now_us_.load(); },
                              .thread_seconds = [this] { return seconds_ += price_; },
                              .known = known_});
    const Status status = predictor_->Start();
    ASSERT_TRUE(status.ok()) << status.text();
  }

  // Tells all that is seen; afterwards share(epoch) says how much was predicted.
  void Play(TraceSimulation* simulation) {
    Begin(simulation);
    PlayUntil(TraceEnd());
  }

  // The same in parts: what is seen before a time.
  void Begin(TraceSimulation* simulation) {
    share_.clear();
    accesses_ = simulation->Accesses();
    reads_ = simulation->Reads();
    told_ = counted_ = 0;
  }
  static constexpr uint64_t TraceEnd() { return ~uint64_t{0}; }
  void PlayUntil(uint64_t time_us) {
    while (told_ < accesses_.size() && accesses_[told_].time_us < time_us) {
      TellNext();
      if (told_ % 8 == 0) predictor_->Flush();
    }
    if (told_ == accesses_.size()) CountUntil(TraceEnd());
    predictor_->Flush();
  }
  void TellNext() {
    const Access& access = accesses_[told_++];
    CountUntil(access.time_us);
    now_us_ = access.time_us;
    processes_->SetNow(access.time_us);
    if (access.read) {
      predictor_->OnRead(access.view, access.file, access.reader);
    } else {
      predictor_->OnOpened(access.view, {&access.file, 1});
    }
  }
  // All of it; the mount ends before so many of the last reads are taken in.
  void PlayToTheUnmount(TraceSimulation* simulation, size_t last) {
    Begin(simulation);
    PlayUntil(accesses_[accesses_.size() - last].time_us);
    while (told_ < accesses_.size()) TellNext();
    predictor_.reset();
  }
  void CountUntil(uint64_t time_us) {
    for (; counted_ < reads_.size() && reads_[counted_].time_us <= time_us; ++counted_) Count(reads_[counted_]);
  }

  void Count(const TrueRead& read) {
    if (share_.size() <= read.epoch) share_.resize(read.epoch + 1);
    auto& [predicted, all] = share_[read.epoch];
    ++all;
    predicted += orders_.Read(read.file);
  }

  // All processes have gone.
  void EndJobs() {
    now_us_ += 10'000'000;
    processes_->SetNow(now_us_);
    const auto running = [this] {
      return std::ranges::any_of(predictor_->Describe(),
                                 [](const auto& fact) { return !fact.second.starts_with(kEnded); });
    };
    for (int i = 0; i < 1000 && running(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_FALSE(running()) << DescribeState();
  }

  double share(size_t epoch) const {
    return static_cast<double>(share_.at(epoch).first) / static_cast<double>(share_.at(epoch).second);
  }
  void ExpectPredicted(double first, double later) const {
    EXPECT_GE(share(0), first) << DescribeState();
    for (size_t epoch = 1; epoch < share_.size(); ++epoch)
      EXPECT_GE(share(epoch), later) << "epoch " << epoch << DescribeState();
  }
  std::string DescribeState() const {
    std::string text;
    for (const auto& [name, value] : predictor_->Describe()) text.append("\n").append(name).append(": ").append(value);
    return text;
  }

  uint32_t samples_ = kSamples;  // of the training set
  std::shared_ptr<const SampleList> train_;
  std::shared_ptr<const std::vector<KnownSampler>> known_;
  std::atomic<uint64_t> now_us_ = 0;
  bool idle_class_ = true;
  double search_core_seconds_max_ = kSearchCoreSecondsMax;
  size_t accesses_max_ = OrderPredictorOptions().accesses_max;
  LastingOrders* lasting_ = nullptr;
  // Called by the OrderPredictor's thread. Data is never hot, unless a test says so.
  std::function<double()> fetched_files_ = [files = 0.0]() mutable { return files += 1000; };
  std::atomic<double> price_ = 0;    // of a try
  std::atomic<double> seconds_ = 0;  // that all of them have taken
  FakeOrders orders_;
  Statistics statistics_;
  std::unique_ptr<SharedProcesses> processes_;
  std::unique_ptr<OrderPredictor> predictor_;
  std::vector<Access> accesses_;
  std::vector<TrueRead> reads_;
  size_t told_ = 0;
  size_t counted_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> share_;  // by epoch: predicted, all
};

}  // namespace augur
