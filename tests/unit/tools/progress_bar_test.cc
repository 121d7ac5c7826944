// SPDX-License-Identifier: Apache-2.0
#include "tools/progress_bar.h"

#include <gtest/gtest.h>

#include <chrono>

namespace augur {
namespace {

TEST(ProgressBarTest, ALineHasFilesBytesShareRateAndTimeLeft) {
  // 100 of 400 MiB in 50 s: 2 MiB a second, and 300 MiB to go take 150 s.
  const ProgressState state{
      .files = 10, .bytes = 100 << 20, .files_total = 40, .bytes_total = 400 << 20, .seconds = 50};
  EXPECT_EQ(ProgressLine("packing", state),
            "packing: 10 of 40 files, 100.0 MiB of 400.0 MiB (25%), 2.0 MiB/s, 2:30 left");
}

TEST(ProgressBarTest, WithoutATotalNothingIsForetold) {
  const ProgressState state{.files = 10, .bytes = 100 << 20, .seconds = 50};
  EXPECT_EQ(ProgressLine("packing", state), "packing: 10 files, 100.0 MiB, 2.0 MiB/s");
}

TEST(ProgressBarTest, FilesTellTheShareWhereThereAreNoBytes) {
  const ProgressState state{.files = 10, .files_total = 40, .seconds = 2};
  EXPECT_EQ(ProgressLine("packing", state), "packing: 10 of 40 files, 0 bytes (25%), 0 bytes/s, 0:06 left");
}

TEST(ProgressBarTest, BytesAloneLeaveTheFilesOut) {
  const ProgressState state{.bytes = 1 << 20, .bytes_total = 2 << 20, .seconds = 2};
  EXPECT_EQ(ProgressLine("verifying", state), "verifying: 1.0 MiB of 2.0 MiB (50%), 512.0 KiB/s, 0:02 left");
}

TEST(ProgressBarTest, MoreThanTheTotalIsAllOfIt) {
  const ProgressState state{.files = 5, .bytes = 3 << 20, .files_total = 4, .bytes_total = 2 << 20, .seconds = 3};
  EXPECT_EQ(ProgressLine("packing", state), "packing: 5 of 4 files, 3.0 MiB of 2.0 MiB (100%), 1.0 MiB/s");
}

TEST(ProgressBarTest, HoursAreShown) {
  const ProgressState state{.files = 1, .bytes = 1 << 20, .bytes_total = uint64_t{3601} << 20, .seconds = 2};
  EXPECT_EQ(ProgressLine("packing", state), "packing: 1 file, 1.0 MiB of 3.5 GiB (0%), 512.0 KiB/s, 2:00:00 left");
}

TEST(ProgressBarTest, AQuietOneWritesNothing) {
  testing::internal::CaptureStderr();
  {
    ProgressBar progress("packing", ProgressBar::Mode::kQuiet);
    progress.SetTotal(2, 10);
    progress.Add(1, 5);
    progress.Set(2, 10);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressBarTest, APlainOneWritesALineEachTime) {
  testing::internal::CaptureStderr();
  {
    ProgressBar progress("packing", ProgressBar::Mode::kPlain, std::chrono::seconds(0));
    progress.Add(1, 0);
    progress.SetTotal(2, 0);
    progress.Add(1, 0);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "packing: 1 file, 0 bytes, 0 bytes/s\npacking: 2 of 2 files, 0 bytes (100%), 0 bytes/s\n");
}

TEST(ProgressBarTest, APlainOneIsSilentUntilItsTime) {
  testing::internal::CaptureStderr();
  {
    ProgressBar progress("packing", ProgressBar::Mode::kPlain, std::chrono::hours(1000));
    progress.Add(1, 5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressBarTest, LinesOfOthersAreWrittenWhole) {
  testing::internal::CaptureStderr();
  {
    ProgressBar progress("packing", ProgressBar::Mode::kQuiet);
    progress.Print("augurpack: a: unreadable");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "augurpack: a: unreadable\n");
}

}  // namespace
}  // namespace augur
