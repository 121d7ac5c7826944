// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "foresee/answer_at_once.h"
#include "shuffle/known_samplers.h"
#include "unit/foresee/test_reads.h"

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
  AddKnownTorchSamplers(&known);
  return AtOnce(known);
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
    const size_t reads = std::array<size_t, 4>{3, 12, 48, 192}[random() % 4];
    Question question;
    question.tests.emplace_back(list, FirstReads(files, plan, reads, random));
    const std::optional<Finding> found = AnswerAtOnce(question, known);
    if (found) {
      ADD_FAILURE() << "trace " << trace << ", " << reads << " reads of " << list->size() << ": " << found->what << ", "
                    << found->bits << " bits";
    }
  }
}

// 10,000 in all.
TEST(FalseLockTest, NoneOfTorchInRandomTraces) {
  const Known known = TorchAtOnce();
  ExpectNoLock(known, {200}, 200, 1);  // of such small sets every guess is looked at in full
  ExpectNoLock(known, {300, 500, 1000, 4000, 20'000}, 9600, 4);
}

TEST(FalseLockTest, NoneOfAnyInRandomTraces) { ExpectNoLock(AtOnce(KnownSamplers()), {300, 600}, 200, 2); }

// The net catches: an order of a known sampler among them is found.
TEST(FalseLockTest, ATrueOneIsFound) {
  std::mt19937_64 random(3);
  const Known known = TorchAtOnce();
  for (const uint32_t size : {200U, 1000U, 20'000U}) {
    const auto list = ListOf(size);
    for (size_t i = 0; i < known.size(); i += 17) {
      IndexOrder indices;
      known[i].sampler->Take(size, 0, Remembering::kRemembered, &indices);
      Question question;
      question.tests.emplace_back(list, FirstReads(FilesOf(*list, indices), {.workers = 2, .batch = 16}, 48, random));
      const std::optional<Finding> found = AnswerAtOnce(question, known);
      ASSERT_TRUE(found.has_value()) << known[i].sampler->Describe() << " of " << size;
      const auto prefix = static_cast<std::ptrdiff_t>(std::min(indices.size(), found->order->files().size()));
      EXPECT_EQ(Order(found->order->files().begin(), found->order->files().begin() + prefix),
                FilesOf(*list, IndexOrder(indices.begin(), indices.begin() + prefix)));
    }
  }
}

}  // namespace
}  // namespace augur
