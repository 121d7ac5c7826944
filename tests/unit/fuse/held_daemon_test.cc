// SPDX-License-Identifier: Apache-2.0
// A daemon as its holder sees it. Promise: its end is seen, however early it is.
#include "fuse/held_daemon.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace augur {
namespace {

// A child that lives until the pipe is closed.
pid_t ForkUntilClosed(const std::array<int, 2>& pipe) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  close(pipe[1]);
  char byte = 0;
  (void)!read(pipe[0], &byte, 1);
  _exit(3);
}

TEST(HeldDaemon, EndsWhenItsProcessEnds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const HeldDaemon daemon = HeldDaemon::Of(ForkUntilClosed(ends), UniqueFd());
  ASSERT_TRUE(daemon.is_there());
  EXPECT_FALSE(daemon.HasEnded());
  close(ends[1]);
  pollfd ended = {.fd = daemon.process.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ended, 1, -1), 1);
  EXPECT_TRUE(daemon.HasEnded());
  EXPECT_EQ(daemon.HowItEnded()->status, 3);
  ASSERT_EQ(waitpid(daemon.pid, nullptr, 0), daemon.pid);
  close(ends[0]);
}

// As a program that is not there ends, while the holder waits for a core.
TEST(HeldDaemon, HasEndedIfItWasCollectedBeforeItHadAPidfd) {
  const pid_t pid = fork();
  if (pid == 0) _exit(3);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  const HeldDaemon daemon = HeldDaemon::Of(pid, UniqueFd());
  EXPECT_TRUE(daemon.is_there());
  EXPECT_TRUE(daemon.HasEnded());
  EXPECT_FALSE(daemon.HowItEnded().has_value());
}

TEST(HeldDaemon, NoDaemonHasNotEnded) {
  EXPECT_FALSE(HeldDaemon().is_there());
  EXPECT_FALSE(HeldDaemon().HasEnded());
}

}  // namespace
}  // namespace augur
