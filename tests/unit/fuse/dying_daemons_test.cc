// SPDX-License-Identifier: Apache-2.0
#include "fuse/dying_daemons.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/fuse/other_process.h"

namespace augur {
namespace {

using std::chrono::milliseconds;

constexpr DyingDaemons::Clock::time_point kBegin{std::chrono::seconds(1000)};

class DyingDaemonsTest : public testing::Test {
 protected:
  // A process that lives until it is ended.
  UniqueFd Fork() {
    const auto body = []() -> std::string {
      while (true) pause();
    };
    processes_.push_back(std::make_unique<OtherProcess>(body));
    return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, processes_.back()->pid(), 0)));
  }

  void EndLast() { processes_.pop_back(); }

  DyingDaemons daemons_;

 private:
  std::vector<std::unique_ptr<OtherProcess>> processes_;
};

TEST_F(DyingDaemonsTest, NothingIsResentWithoutOne) {
  EXPECT_FALSE(daemons_.ResendIsDue(kBegin));
  EXPECT_FALSE(daemons_.due().has_value());
}

TEST_F(DyingDaemonsTest, ResendsInPausesThatGrow) {
  daemons_.Add(Fork(), kBegin, milliseconds(100));
  EXPECT_FALSE(daemons_.ResendIsDue(kBegin + milliseconds(99)));
  DyingDaemons::Clock::time_point now = kBegin + milliseconds(100);
  for (const int pause_ms : {200, 400, 800, 1600, 3200, 5000, 5000}) {
    EXPECT_TRUE(daemons_.ResendIsDue(now));
    EXPECT_EQ(daemons_.due(), now + milliseconds(pause_ms));
    EXPECT_FALSE(daemons_.ResendIsDue(now));
    now += milliseconds(pause_ms);
  }
}

TEST_F(DyingDaemonsTest, ResendsForTheLastTimeWhenAllAreGone) {
  daemons_.Add(Fork(), kBegin, milliseconds(100));
  daemons_.Add(Fork(), kBegin, milliseconds(100));
  EndLast();
  EXPECT_FALSE(daemons_.ResendIsDue(kBegin));
  EndLast();
  EXPECT_TRUE(daemons_.ResendIsDue(kBegin));
  EXPECT_FALSE(daemons_.due().has_value());
  EXPECT_FALSE(daemons_.ResendIsDue(kBegin + milliseconds(5000)));
}

TEST_F(DyingDaemonsTest, AShorterPauseCountsAndALongerOneDoesNot) {
  daemons_.Add(Fork(), kBegin, milliseconds(500));
  daemons_.Add(Fork(), kBegin, milliseconds(5000));
  EXPECT_EQ(daemons_.due(), kBegin + milliseconds(500));
  daemons_.Add(Fork(), kBegin, milliseconds(100));
  EXPECT_EQ(daemons_.due(), kBegin + milliseconds(100));
}

TEST_F(DyingDaemonsTest, APlaceIsFreeAgainWhenOneIsGone) {
  for (size_t i = 0; i < DyingDaemons::kMax; ++i) {
    EXPECT_FALSE(daemons_.IsFull());
    daemons_.Add(Fork(), kBegin, milliseconds(100));
  }
  EXPECT_TRUE(daemons_.IsFull());
  EndLast();
  EXPECT_FALSE(daemons_.ResendIsDue(kBegin));
  EXPECT_FALSE(daemons_.IsFull());
}

}  // namespace
}  // namespace augur
