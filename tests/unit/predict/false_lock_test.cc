// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "predict/job_predictor.h"
#include "predict/try_known_samplers.h"
#include "samplers/known_samplers.h"
#include "samplers/sampler_registry.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

// A sampler that is asked for the same epochs ten thousand times.
class Remembering final : public Sampler {
 public:
  static constexpr size_t kRemembered = 4096;  // as much as is looked at

  explicit Remembering(std::shared_ptr<const Sampler> sampler) : sampler_(std::move(sampler)) {}

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override {
    IndexOrder& known = known_[{samples, epoch}];
    if (known.empty()) sampler_->Take(samples, epoch, std::min<size_t>(samples, kRemembered), &known);
    indices->assign(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(std::min(count, known.size())));
  }
  std::string Describe() const override { return sampler_->Describe(); }

 private:
  const std::shared_ptr<const Sampler> sampler_;
  mutable std::map<std::pair<uint64_t, uint64_t>, IndexOrder> known_;
};

using Known = std::vector<KnownSampler>;

// Those that are tried at once.
Known AtOnce(const Known& all) {
  Known known;
  for (KnownSampler sampler : all) {
    if (sampler.likelihood == KnownSampler::Likelihood::kDistant) continue;
    sampler.sampler = std::make_shared<const Remembering>(sampler.sampler);
    known.push_back(std::move(sampler));
  }
  return known;
}

Known TorchAtOnce() {
  Known known;
  kTorchFamily.add_known(&known);
  return AtOnce(known);
}

// A job as the OrderPredictor treats it: asked about when it has made some reads and each time that they have doubled,
// and followed once an order is believed.
class AskedJob {
 public:
  AskedJob(std::shared_ptr<const SampleList> list, const Known& known, uint64_t reads_to_ask = 3)
      : list_(std::move(list)), known_(known), reads_to_ask_(reads_to_ask) {}

  void Read(EntryNumber file, StreamId stream) {
    if (job_.OnRead(file, stream) == JobPredictor::Change::kLost) ++lost_;
    if (job_.locked() || job_.reads().size() < reads_to_ask_) return;
    reads_to_ask_ *= 2;
    SearchRequest request;
    request.tests.emplace_back(list_, job_.Unpredicted());
    request.expected = job_.history().Expected();
    std::optional<IdentifiedOrder> found = TryKnownSamplers(request, known_);
    if (!found) return;
    found_ += found->what + " after " + std::to_string(job_.reads().size()) + " reads; ";
    Lock(std::move(*found));
  }
  void Lock(IdentifiedOrder found) { job_.Lock(std::move(found)); }

  const std::string& found() const { return found_; }  // what was believed; empty: nothing
  uint64_t lost() const { return lost_; }
  const JobPredictor& job() const { return job_; }

 private:
  const std::shared_ptr<const SampleList> list_;
  const Known& known_;
  JobPredictor job_{1};
  uint64_t reads_to_ask_;
  std::string found_;
  uint64_t lost_ = 0;
};

// The first reads of an order, as they are seen.
std::vector<std::pair<EntryNumber, StreamId>> Trace(const Order& files, const LoaderPlan& plan, size_t count,
                                                    std::mt19937_64& random) {
  const size_t length = std::min(files.size(), 2 * count + plan.workers * plan.batch * (plan.prefetch + 1));
  std::vector<std::pair<EntryNumber, StreamId>> trace;
  for (const LoaderRead& read : LoaderReads(static_cast<uint32_t>(length), plan, random)) {
    if (trace.size() == count) break;
    trace.emplace_back(files[read.place], read.stream);
  }
  return trace;
}

// Runs with workers or without, seen whole or in part, whose orders nobody knows how to draw: nothing may be believed.
void ExpectNoLock(const Known& known, const std::vector<uint32_t>& sizes, int traces, uint64_t seed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  traces /= 20;  // the sanitizers look for other faults, and take ten times as long
#endif
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<const SampleList>> lists;
  lists.reserve(sizes.size());
  for (const uint32_t size : sizes) lists.push_back(ListOf(size));
  for (int trace = 0; trace < traces; ++trace) {
    const std::shared_ptr<const SampleList>& list =
        lists[static_cast<size_t>(trace) * lists.size() / static_cast<size_t>(traces)];
    Order files = FilesOf(*list, RandomOrder(list->size(), random));
    if (trace % 4 == 3) {  // a weighted sampler
      for (EntryNumber& file : files) file = list->files()[random() % list->size()];
    }
    const LoaderPlan plan = {.workers = 1 + random() % 4,
                             .batch = std::array<size_t, 3>{4, 32, 64}[random() % 3],
                             .unseen = random() % 3 == 0 ? 0.5 : 0,
                             .named = random() % 3 != 0};
    // Most are asked about once, which is what takes the time.
    const bool often = trace % 20 == 0;
    const size_t reads = often ? 192 : std::array<size_t, 4>{3, 12, 48, 192}[random() % 4];
    AskedJob job(list, known, often ? 3 : reads);
    for (const auto& [file, stream] : Trace(files, plan, reads, random)) job.Read(file, stream);
    EXPECT_EQ(job.found(), "") << "trace " << trace << ", of " << list->size();
  }
}

// 10,000 in all.
TEST(FalseLockTest, NoneOfTorchInRandomTraces) {
  const Known known = TorchAtOnce();
  ExpectNoLock(known, {200}, 200, 1);  // of such small sets every guess is looked at in full
  ExpectNoLock(known, {300, 500, 1000, 4000, 20'000}, 9600, 4);
}

TEST(FalseLockTest, NoneOfAnyInRandomTraces) { ExpectNoLock(AtOnce(KnownSamplers()), {300, 600}, 200, 2); }

// An order that was believed and is not what is read is given up, mostly after some reads and always within half an
// epoch: that bounds what a false lock would cost. (Of sets so small that all of them is in reach, see EpochFollower.)
TEST(FalseLockTest, AWrongOrderIsGivenUp) {
  const Known none;
  std::mt19937_64 random(6);
  for (const uint32_t size : {1000U, 4000U, 20'000U}) {
    const auto list = ListOf(size);
    for (int trace = 0; trace < 60; ++trace) {
      Order files = FilesOf(*list, RandomOrder(size, random));
      if (trace % 4 == 3) {
        for (EntryNumber& file : files) file = list->files()[random() % size];
      }
      const LoaderPlan plan = {.workers = 1 + random() % 4, .batch = 32, .named = random() % 3 != 0};
      AskedJob job(list, none);
      job.Lock(MakeIdentifiedOrder(list, {.sampler = MakeTorchSampler(FreshSeedRecipe("wrong", random()))}));
      for (const auto& [file, stream] : Trace(files, plan, size / 2, random)) job.Read(file, stream);
      EXPECT_EQ(job.lost(), 1U) << "trace " << trace << ", of " << size;
      EXPECT_FALSE(job.job().locked()) << "trace " << trace << ", of " << size;
    }
  }
}

// The net catches: a true order is believed and kept.
TEST(FalseLockTest, ATrueOrderIsKept) {
  std::mt19937_64 random(7);
  const Known known = TorchAtOnce();
  for (const uint32_t size : {1000U, 20'000U}) {
    const auto list = ListOf(size);
    const Order files = FilesOf(*list, EpochOf(*MakeTorchSampler(FreshSeedRecipe("truth", 1234)), size, 0));
    AskedJob job(list, known);
    for (const auto& [file, stream] : Trace(files, {.workers = 4}, 400, random)) job.Read(file, stream);
    EXPECT_NE(job.found(), "") << size;
    EXPECT_TRUE(job.job().locked()) << size;
    EXPECT_EQ(job.lost(), 0U) << size;
  }
}

// The net catches: an order of a known sampler among them is found.
TEST(FalseLockTest, ATrueOneIsFound) {
  std::mt19937_64 random(3);
  const Known known = TorchAtOnce();
  for (const uint32_t size : {200U, 1000U, 20'000U}) {
    const auto list = ListOf(size);
    for (size_t i = 0; i < known.size(); i += 17) {
      IndexOrder indices;
      known[i].sampler->Take(size, 0, Remembering::kRemembered, &indices);
      SearchRequest request;
      request.tests.emplace_back(list, FirstReads(FilesOf(*list, indices), {.workers = 2, .batch = 16}, 48, random));
      const std::optional<IdentifiedOrder> found = TryKnownSamplers(request, known);
      ASSERT_TRUE(found.has_value()) << known[i].sampler->Describe() << " of " << size;
      const auto prefix = static_cast<std::ptrdiff_t>(std::min(indices.size(), found->order->files().size()));
      EXPECT_EQ(Order(found->order->files().begin(), found->order->files().begin() + prefix),
                FilesOf(*list, IndexOrder(indices.begin(), indices.begin() + prefix)));
    }
  }
}

// Counts how often epochs are taken.
class Counting final : public Sampler {
 public:
  explicit Counting(std::shared_ptr<const Sampler> sampler) : sampler_(std::move(sampler)) {}

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override {
    ++taken;
    sampler_->Take(samples, epoch, count, indices);
  }
  std::string Describe() const override { return sampler_->Describe(); }

  mutable uint64_t taken = 0;

 private:
  const std::shared_ptr<const Sampler> sampler_;
};

// The trial asks before each guess whether the answer is still wanted, as one of them may draw millions of samples.
TEST(KnownSamplersTest, AreTriedUntilTheTrialIsStopped) {
  std::mt19937_64 random(3);
  const auto list = ListOf(1000);
  const auto truth = std::make_shared<const Counting>(MakeTorchSampler(FreshSeedRecipe("truth", 1234)));
  SearchRequest request;
  request.tests.emplace_back(
      list, FirstReads(FilesOf(*list, EpochOf(*truth, 1000, 0)), {.workers = 2, .batch = 16}, 48, random));
  const Known known(5, {.sampler = truth, .epochs = 1});
  ASSERT_TRUE(TryKnownSamplers(request, known).has_value());
  EXPECT_GE(truth->taken, known.size());
  // By the first guess.
  request.stopped = [&] { return truth->taken > 0; };
  truth->taken = 0;
  EXPECT_FALSE(TryKnownSamplers(request, known).has_value());
  EXPECT_LT(truth->taken, known.size());
  request.stopped = [] { return true; };
  truth->taken = 0;
  EXPECT_FALSE(TryKnownSamplers(request, known).has_value());
  EXPECT_FALSE(TryKnownSamplersMidEpoch(request, known).has_value());
  EXPECT_FALSE(AnswerFromStreams(request).has_value());
  EXPECT_EQ(truth->taken, 0U);
}

}  // namespace
}  // namespace augur
