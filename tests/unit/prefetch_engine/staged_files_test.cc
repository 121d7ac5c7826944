// SPDX-License-Identifier: Apache-2.0
#include "prefetch/staged_files.h"

#include "unit/prefetch_engine/one_file_fixture.h"

namespace augur {
namespace {

constexpr uint64_t kSecond = 1'000'000;

// One file of kBytes bytes, and what was read of it for nothing.
class StagedFilesTest : public OneFileFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OneFileFixture::SetUp());
    staged_->Fetched(file_);
  }

  uint64_t Wasted() const { return statistics_.Get(Stat::kWastedBytes); }
};

TEST_F(StagedFilesTest, AFileThatIsLetGoUnusedWasReadForNothing) {
  staged_->Hold(file_, std::vector<BlockRef>(1));
  EXPECT_EQ(staged_->BlocksOf(file_).size(), 1U);
  staged_->LetGo(file_);
  EXPECT_EQ(Wasted(), 0U) << "it is still held";
  EXPECT_EQ(staged_->Take(file_).size(), 1U);
  EXPECT_FALSE(staged_->Holds(file_));
  EXPECT_TRUE(staged_->BlocksOf(file_).empty());
  EXPECT_TRUE(staged_->Take(file_).empty());
  staged_->LetGo(file_);
  staged_->LetGo(file_);
  EXPECT_EQ(Wasted(), kBytes) << "once";
}

TEST_F(StagedFilesTest, AUsedFileWasNotReadForNothing) {
  staged_->Pushed(file_, kSecond);
  staged_->Used(file_, false, 3 * kSecond);
  staged_->Dropped(file_, true, 4 * kSecond);
  staged_->LetGo(file_);
  staged_->CountUnopened(9 * kSecond);
  EXPECT_EQ(Wasted(), 0U);
}

TEST_F(StagedFilesTest, ADroppedFileIsInDoubtForTwoSeconds) {
  staged_->Pushed(file_, kSecond);
  staged_->Dropped(file_, true, 2 * kSecond);
  staged_->CountUnopened(4 * kSecond);
  EXPECT_EQ(Wasted(), 0U);
  staged_->CountUnopened(4 * kSecond + 1);
  EXPECT_EQ(Wasted(), kBytes);
}

TEST_F(StagedFilesTest, AnOpenThatIsToldLateIsAUse) {
  staged_->Pushed(file_, kSecond);
  staged_->Dropped(file_, true, 2 * kSecond);
  staged_->Used(file_, false, 3 * kSecond);
  staged_->CountUnopened(9 * kSecond);
  EXPECT_EQ(Wasted(), 0U);
}

TEST_F(StagedFilesTest, WhereOpensAreNotSeenAPushedFileIsTakenForUsed) {
  staged_->Pushed(file_, kSecond);
  staged_->Dropped(file_, false, 2 * kSecond);
  staged_->CountUnopened(9 * kSecond);
  EXPECT_EQ(Wasted(), 0U);
}

}  // namespace
}  // namespace augur
