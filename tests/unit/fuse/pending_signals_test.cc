// SPDX-License-Identifier: Apache-2.0
// Signals to a mount, as its holder keeps them. Promise: none that ends the mount is lost.
#include "fuse/pending_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "unit/fuse/other_process.h"

namespace augur {
namespace {

class PendingSignalsTest : public ::testing::Test {
 protected:
  void SetUp() override { pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  void TearDown() override { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // The numbers of the signals that a daemon gets.
  static std::string Passed(PendingSignals& signals) {
    OtherProcess daemon([]() -> std::string {
      sigset_t all;
      sigfillset(&all);
      std::string got;
      // The last one is sent by the test itself.
      for (int number = sigwaitinfo(&all, nullptr); number != SIGRTMAX; number = sigwaitinfo(&all, nullptr)) {
        got += std::to_string(number) + " ";
      }
      return got;
    });
    const HeldDaemon held = HeldDaemon::Of(daemon.pid(), UniqueFd());
    signals.PassTo(held);
    held.Signal(SIGRTMAX);
    return daemon.Wait().value_or("killed");
  }

  sigset_t before_{};
};

TEST_F(PendingSignalsTest, AStopStaysForTheNextDaemon) {
  sigset_t last;
  sigemptyset(&last);
  sigaddset(&last, SIGRTMAX);
  pthread_sigmask(SIG_BLOCK, &last, nullptr);
  Result<PendingSignals> signals = PendingSignals::Block();
  ASSERT_TRUE(signals.ok()) << signals.status().text();
  EXPECT_FALSE(signals->Take());
  EXPECT_EQ(Passed(*signals), "");
  kill(getpid(), SIGINT);
  kill(getpid(), SIGUSR1);
  EXPECT_TRUE(signals->Take());
  EXPECT_EQ(Passed(*signals), std::to_string(SIGINT) + " " + std::to_string(SIGUSR1) + " ");
  EXPECT_EQ(Passed(*signals), std::to_string(SIGINT) + " ");
}

}  // namespace
}  // namespace augur
