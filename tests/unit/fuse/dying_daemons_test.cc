// SPDX-License-Identifier: Apache-2.0
#include "fuse/dying_daemons.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace augur {
namespace {

using std::chrono::milliseconds;

constexpr DyingDaemons::Clock::time_point kBegin{std::chrono::seconds(1000)};

class DyingDaemonsTest : public testing::Test {
 protected:
  ~DyingDaemonsTest() override {
    while (!children_.empty()) EndLast();
  }

  // A process that lives until it is ended.
  UniqueFd Fork() {
    const pid_t pid = fork();
    if (pid == 0) {
      (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
    children_.push_back(pid);
    return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  }

  void EndLast() {
    kill(children_.back(), SIGKILL);
    EXPECT_EQ(waitpid(children_.back(), nullptr, 0), children_.back());
    children_.pop_back();
  }

  DyingDaemons daemons_;

 private:
  std::vector<pid_t> children_;
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
