// SPDX-License-Identifier: Apache-2.0
#include "predict/job_history.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "samplers/torch_recipes.h"
#include "unit/predict/test_reads.h"

namespace augur {
namespace {

class JobHistoryTest : public testing::Test {
 protected:
  static Guess Distributed(uint64_t seed, uint64_t epoch = 0) {
    return {.sampler = MakeTorchSampler(FreshSeedRecipe("torch DistributedSampler", seed)), .epoch = epoch};
  }
  // An epoch of a list, whose next ones follow from it.
  static IdentifiedOrder EpochOfList(const std::shared_ptr<const SampleList>& list, uint64_t seed, uint64_t epoch = 0) {
    IdentifiedOrder identified = MakeIdentifiedOrder(list, Distributed(seed, epoch));
    identified.continues = true;
    return identified;
  }
  std::optional<IdentifiedOrder> NextOf(const std::vector<const IdentifiedOrder*>& epochs) const {
    return history_.Next(epochs);
  }

  JobHistory history_;
  std::shared_ptr<const SampleList> train_ = ListOf(300);
  std::shared_ptr<const SampleList> val_ = ListOf(50, 50'000, "val");
};

TEST_F(JobHistoryTest, NothingIsExpectedOfAJobThatHasReadNothing) {
  EXPECT_TRUE(history_.Expected().empty());
  EXPECT_FALSE(history_.Drawn());
  EXPECT_EQ(history_.ViewOf(EpochOfList(train_, 5)), std::nullopt);
}

TEST_F(JobHistoryTest, TheNextEpochIsOfTheSetThatCameNextBefore) {
  const IdentifiedOrder train = EpochOfList(train_, 5);
  const IdentifiedOrder val = EpochOfList(val_, 7);
  history_.Begin(train);
  std::optional<IdentifiedOrder> next = NextOf({&train});
  if (!next) FAIL();
  EXPECT_EQ(next->list, train_) << "mostly the same";
  EXPECT_EQ(next->guess.epoch, 1U);
  history_.Begin(val);
  next = NextOf({&val});
  if (!next) FAIL();
  EXPECT_EQ(next->list, val_) << "of what comes after it nothing is known yet";
  const IdentifiedOrder second = EpochOfList(train_, 5, 1);
  history_.Begin(second);
  // Behind each epoch that is known, one more.
  const std::optional<IdentifiedOrder> third = NextOf({&second});
  if (!third) FAIL();
  EXPECT_EQ(third->list, val_);
  EXPECT_EQ(third->guess.epoch, 1U);
  const std::optional<IdentifiedOrder> fourth = NextOf({&second, &*third});
  if (!fourth) FAIL();
  EXPECT_EQ(fourth->list, train_);
  EXPECT_EQ(fourth->guess.epoch, 2U);
  EXPECT_EQ(fourth->order->files(), EpochOfList(train_, 5, 2).order->files());
}

TEST_F(JobHistoryTest, NothingIsKnownBehindAPieceWhoseEndIsAGuess) {
  IdentifiedOrder piece = EpochOfList(train_, 5);
  piece.piece_guessed = true;
  history_.Begin(piece);
  EXPECT_FALSE(NextOf({&piece}));
}

TEST_F(JobHistoryTest, ARecordedRunGoesOnToItsEnd) {
  IdentifiedOrder run;
  run.run = "r1";
  run.order = std::make_shared<const EpochOrder>(Order{1, 2, 3});
  run.recorded = {std::make_shared<const Order>(Order{3, 1, 2})};
  history_.Begin(run);
  const std::optional<IdentifiedOrder> next = NextOf({&run});
  if (!next) FAIL();
  EXPECT_EQ(next->order->files(), (Order{3, 1, 2}));
  EXPECT_FALSE(NextOf({&run, &*next}));
}

TEST_F(JobHistoryTest, TheSetThatIsLikeliestComesFirst) {
  history_.Begin(EpochOfList(train_, 5));
  IdentifiedOrder searched = EpochOfList(val_, 7);
  searched.seed = 7;
  history_.Begin(searched);
  EXPECT_TRUE(history_.Drawn());
  history_.Begin(EpochOfList(train_, 5, 1));
  EXPECT_TRUE(history_.IsOfLastDataset(EpochOfList(train_, 9)));
  EXPECT_FALSE(history_.IsOfLastDataset(searched));
  // After the training comes the validation, whose seed was searched for.
  EXPECT_TRUE(history_.Drawn());
  const std::vector<Guess> expected = history_.Expected();
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(expected.front().sampler->Describe(), GuessesAfter(searched, {}).front().sampler->Describe());
}

TEST_F(JobHistoryTest, AnEpochThatTurnsOutToBeAnotherTakesItsPlace) {
  history_.Begin(EpochOfList(train_, 5));
  const IdentifiedOrder other = EpochOfList(train_, 6, 4);
  history_.Correct(other);
  const std::optional<IdentifiedOrder> next = NextOf({&other});
  if (!next) FAIL();
  EXPECT_EQ(next->order->files(), EpochOfList(train_, 6, 5).order->files());
  const RankSubset piece = RankSubset::Piece(0, 100);
  history_.CorrectShare(piece);
  ASSERT_FALSE(history_.Expected().empty());
  EXPECT_EQ(history_.Expected().front().share.Describe(), piece.Describe());
}

TEST_F(JobHistoryTest, EachSetHasTheViewInWhichItWasReadLast) {
  history_.ReadIn(EpochOfList(train_, 5), 4);
  history_.ReadIn(EpochOfList(val_, 5), 7);
  history_.ReadIn(EpochOfList(val_, 6), 8);
  EXPECT_EQ(history_.ViewOf(EpochOfList(train_, 6)), 4U);
  EXPECT_EQ(history_.ViewOf(EpochOfList(val_, 9)), 8U);
  // A recorded run has several sets: they are told apart by how large they are.
  IdentifiedOrder run;
  run.run = "r1";
  run.order = std::make_shared<const EpochOrder>(Order{1, 2, 3});
  history_.ReadIn(run, 2);
  EXPECT_EQ(history_.ViewOf(run), 2U);
  run.order = std::make_shared<const EpochOrder>(Order{1, 2});
  EXPECT_EQ(history_.ViewOf(run), std::nullopt);
}

}  // namespace
}  // namespace augur
