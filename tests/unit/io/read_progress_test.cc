// SPDX-License-Identifier: Apache-2.0
#include "io/read_progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace augur {
namespace {

TEST(ReadProgress, WholeAnswerEndsIt) {
  ReadProgress progress(1000);
  EXPECT_EQ(progress.piece_begin(), 0u);
  EXPECT_EQ(progress.piece_bytes(), 1000u);
  EXPECT_TRUE(progress.Advance(1000));
  EXPECT_EQ(progress.result(), 1000);
}

TEST(ReadProgress, ShortAnswerIsContinuedAtAnAlignedPlace) {
  ReadProgress progress(size_t{3} * 4096);
  EXPECT_FALSE(progress.Advance(4096 + 17));
  EXPECT_EQ(progress.piece_begin(), 4096u);
  EXPECT_EQ(progress.piece_bytes(), 2u * 4096);
  EXPECT_TRUE(progress.Advance(int64_t{2} * 4096));
  EXPECT_EQ(progress.result(), int64_t{3} * 4096);
}

TEST(ReadProgress, NothingFurtherIsTheEnd) {
  ReadProgress progress(size_t{3} * 4096);
  EXPECT_FALSE(progress.Advance(4096 + 17));
  EXPECT_TRUE(progress.Advance(17));  // the same last byte again
  EXPECT_EQ(progress.result(), 4096 + 17);

  ReadProgress aligned(size_t{3} * 4096);
  EXPECT_FALSE(aligned.Advance(4096));
  EXPECT_TRUE(aligned.Advance(0));
  EXPECT_EQ(aligned.result(), 4096);
}

TEST(ReadProgress, AFileThatShrinksMeanwhileKeepsWhatWasRead) {
  ReadProgress progress(size_t{3} * 4096);
  EXPECT_FALSE(progress.Advance(4096 + 17));
  EXPECT_TRUE(progress.Advance(0));
  EXPECT_EQ(progress.result(), 4096 + 17);
}

TEST(ReadProgress, PastTheEndAndWithoutBytes) {
  ReadProgress past(100);
  EXPECT_TRUE(past.Advance(0));
  EXPECT_EQ(past.result(), 0);
  ReadProgress none(0);
  EXPECT_TRUE(none.Advance(0));
  EXPECT_EQ(none.result(), 0);
}

TEST(ReadProgress, InterruptionsAreAskedAgainAndErrorsEndIt) {
  ReadProgress progress(100);
  EXPECT_FALSE(progress.Advance(-EINTR));
  EXPECT_FALSE(progress.Advance(-EAGAIN));
  EXPECT_TRUE(progress.Advance(-EIO));
  EXPECT_EQ(progress.result(), -EIO);
}

TEST(ReadProgress, EndlessEagainIsTold) {
  ReadProgress progress(100);
  for (int i = 0; i < ReadProgress::kRetriesMax; ++i) ASSERT_FALSE(progress.Advance(-EAGAIN));
  EXPECT_TRUE(progress.Advance(-EAGAIN));
  EXPECT_EQ(progress.result(), -EAGAIN);
}

TEST(ReadProgress, PiecesOverTheKernelsLimitAreCut) {
  ReadProgress progress(size_t{5} << 30);
  for (size_t gib = 0; gib < 5; ++gib) {
    EXPECT_EQ(progress.piece_begin(), gib << 30);
    EXPECT_EQ(progress.piece_bytes(), size_t{1} << 30);
    EXPECT_EQ(progress.Advance(int64_t{1} << 30), gib == 4);
  }
  EXPECT_EQ(progress.result(), int64_t{5} << 30);
}

// A kernel that answers with any number of bytes gives what a single pread of a simple file gives, and every piece is
// within the request.
TEST(ReadProgress, AnyShortAnswersGiveTheWhole) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const size_t asked = random() % 40000;
    const size_t there = random() % 50000;  // from the request's beginning to the end of the file
    ReadProgress progress(asked);
    size_t covered = 0;
    for (;;) {
      const size_t begin = progress.piece_begin();
      ASSERT_LE(begin + progress.piece_bytes(), asked);
      ASSERT_LE(begin, covered);  // no hole
      const size_t left = begin >= there ? 0 : std::min(progress.piece_bytes(), there - begin);
      // A kernel gives at least a block, or all there is.
      const size_t most = left > 4096 ? 4097 + random() % (left - 4096) : left;
      const size_t given = std::min(left, most);
      covered = std::max(covered, begin + given);
      if (progress.Advance(static_cast<int64_t>(given))) break;
    }
    EXPECT_EQ(progress.result(), static_cast<int64_t>(std::min(asked, there)));
  }
}

}  // namespace
}  // namespace augur
