// SPDX-License-Identifier: Apache-2.0
// How far a mount has come, as its holder sees it. Promise: another daemon follows only where the mount can go on.
#include "fuse/held_mount.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

// It has no device number, so that no connection is aborted.
HeldMount Made() { return {"/none", UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC))}; }

TEST(HeldMount, GoesOnOnceItHasAnswered) {
  HeldMount mount = Made();
  EXPECT_FALSE(mount.answers());
  EXPECT_FALSE(mount.goes_on());
  EXPECT_TRUE(mount.Answer(/*can_go_on=*/true));
  EXPECT_TRUE(mount.answers());
  EXPECT_TRUE(mount.goes_on());
}

// A later daemon's word counts no more: the kernel is the same.
TEST(HeldMount, AnswersOnce) {
  HeldMount mount = Made();
  EXPECT_TRUE(mount.Answer(/*can_go_on=*/false));
  EXPECT_FALSE(mount.Answer(/*can_go_on=*/true));
  EXPECT_FALSE(mount.goes_on());
}

TEST(HeldMount, IsLeftToADaemonThatEndsIt) {
  HeldMount mount = Made();
  EXPECT_TRUE(mount.Answer(/*can_go_on=*/true));
  mount.LeaveToDaemon();
  EXPECT_TRUE(mount.is_ending());
  EXPECT_FALSE(mount.goes_on());
  EXPECT_EQ(mount.device(), -1);
}

TEST(HeldMount, EndsNoMoreOnceItIsGivenUp) {
  HeldMount mount = Made();
  EXPECT_TRUE(mount.Answer(/*can_go_on=*/true));
  mount.GiveUp();
  EXPECT_TRUE(mount.is_given_up());
  EXPECT_EQ(mount.device(), -1);
  mount.LeaveToDaemon();
  EXPECT_FALSE(mount.is_ending());
}

}  // namespace
}  // namespace augur
