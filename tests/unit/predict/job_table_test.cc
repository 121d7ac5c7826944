// SPDX-License-Identifier: Apache-2.0
#include "predict/job_table.h"

#include <gtest/gtest.h>

#include <memory>

#include "predict/identified_order.h"
#include "predict/prediction_status.h"
#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

class JobTableTest : public testing::Test {
 protected:
  IdentifiedOrder OrderOf(uint64_t seed) const {
    return MakeIdentifiedOrder(list_, {.sampler = MakeTorchSampler(FreshSeedRecipe("torch", seed))});
  }
  // The file that the job, whose order is known, reads at this place.
  EntryNumber FileAt(JobId job, size_t place) const {
    return jobs_.Find(job)->prediction.running().order->files()[place];
  }
  JobId OwnerOf(EntryNumber file, JobId job, bool read) { return jobs_.OwnerOf({.file = file, .job = job}, read).id(); }

  std::shared_ptr<const SampleList> list_ = ListOf(20'000);
  JobTable jobs_{300, {}};
};

TEST_F(JobTableTest, AReadIsOfTheJobThatItNames) {
  jobs_.Get(1).prediction.Lock(OrderOf(1));
  EXPECT_EQ(OwnerOf(FileAt(1, 0), 2, true), 2U);
  EXPECT_TRUE(jobs_.Find(2)->named);
  EXPECT_FALSE(jobs_.Find(1)->named);
  EXPECT_EQ(jobs_.Find(3), nullptr);
}

TEST_F(JobTableTest, AnOpenIsOfTheJobThatIsToReadTheFileSoonest) {
  for (const JobId job : {1U, 2U}) jobs_.Get(job).prediction.Lock(OrderOf(job));
  for (size_t place = 0; place < 20; ++place) {
    const auto away = [&](JobId job, EntryNumber file) {
      return jobs_.Find(job)->prediction.Expects(file).value_or(list_->size());
    };
    const EntryNumber file = FileAt(1, place);
    EXPECT_EQ(OwnerOf(file, 0, false), away(1, file) <= away(2, file) ? 1U : 2U) << place;
  }
}

// A file that no known order expects about now is read by the job whose order is not known.
TEST_F(JobTableTest, AnOpenThatNoKnownOrderExpectsIsOfTheJobWithoutAnOrder) {
  jobs_.Get(1).prediction.Lock(OrderOf(1));
  jobs_.Get(2);
  EXPECT_EQ(OwnerOf(FileAt(1, 3), 0, false), 1U);
  EXPECT_EQ(OwnerOf(FileAt(1, 15'000), 0, false), 2U);
  // Of two such jobs it may be either's, so it is of job 0.
  jobs_.Get(3);
  EXPECT_EQ(OwnerOf(FileAt(1, 15'000), 0, false), 0U);
}

TEST_F(JobTableTest, TheOrderOfUnknownProcessesIsErasedWhenAJobReadsInTheSame) {
  jobs_.Get(0);
  EXPECT_EQ(jobs_.Unattributed(), nullptr);
  jobs_.Get(0).prediction.Lock(OrderOf(1));
  EXPECT_EQ(jobs_.Unattributed(), jobs_.Find(0));
  jobs_.Get(1).prediction.Lock(OrderOf(2));
  EXPECT_FALSE(jobs_.EraseDouble());
  EXPECT_EQ(jobs_.Known().size(), 2U);
  jobs_.Get(2).prediction.Lock(OrderOf(1));
  EXPECT_TRUE(jobs_.EraseDouble());
  EXPECT_EQ(jobs_.Find(0), nullptr);
  EXPECT_EQ(jobs_.Known().size(), 2U);
}

// Where processes read that cannot be seen, job 0 is a job as others are.
TEST_F(JobTableTest, AJobOfUnknownProcessesThatMakesReadsIsKept) {
  EXPECT_EQ(OwnerOf(1000, 0, true), 0U);
  jobs_.Get(0).prediction.Lock(OrderOf(1));
  jobs_.Get(1).prediction.Lock(OrderOf(1));
  EXPECT_EQ(jobs_.Unattributed(), nullptr);
  EXPECT_FALSE(jobs_.EraseDouble());
}

TEST_F(JobTableTest, TheStatusHasALineForEachJob) {
  jobs_.Get(1).prediction.Lock(OrderOf(1));
  jobs_.Get(1).known_since = 1234;
  const PredictionStatus one = DescribeJobs(jobs_, false, false, "an older one");
  ASSERT_EQ(one.facts.size(), 2U);
  EXPECT_EQ(one.facts[0].first, "predicted");
  EXPECT_EQ(one.facts[1].first, "predicted_last");
  EXPECT_EQ(one.facts[1].second, "nothing now; last, of a job that has ended: an older one");
  ASSERT_EQ(one.reports.size(), 2U);
  EXPECT_EQ(one.reports[0].state, OrderReport::State::kKnown);
  EXPECT_EQ(one.reports[0].since, 1234);
  EXPECT_EQ(one.reports[1].state, OrderReport::State::kEnded);
  jobs_.Get(2).search.Fail(48);
  jobs_.Get(3);
  const PredictionStatus three = DescribeJobs(jobs_, true, false, "");
  ASSERT_EQ(three.reports.size(), 3U);
  EXPECT_EQ(three.reports[0].job, 1U);
  EXPECT_EQ(three.reports[1].text, "not understood after 48 reads");
  EXPECT_EQ(three.reports[2].text, "not looked for: all files come from memory");
  // Of a job of which nothing is known there is no line.
  ASSERT_EQ(three.facts.size(), 2U);
  for (const auto& [name, text] : three.facts) EXPECT_TRUE(name.starts_with("predicted_job_")) << name;
  jobs_.Clear();
  const PredictionStatus none = DescribeJobs(jobs_, true, true, "");
  ASSERT_EQ(none.facts.size(), 1U);
  EXPECT_EQ(none.facts[0].second, "nothing now; orders are not looked for: all files come from memory");
  EXPECT_EQ(none.reports[0].state, OrderReport::State::kNotSought);
}

}  // namespace
}  // namespace augur
