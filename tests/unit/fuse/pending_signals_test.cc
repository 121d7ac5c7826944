// SPDX-License-Identifier: Apache-2.0
// Signals to a mount, as its holder keeps them. Promises: none that ends the mount is lost, and one that asks for
// statistics is heard before it.
#include "fuse/pending_signals.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <string>

#include "unit/fuse/other_process.h"

namespace augur {
namespace {

class PendingSignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pthread_sigmask(SIG_SETMASK, nullptr, &before_);
    sched_getaffinity(0, sizeof processors_, &processors_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  void TearDown() override {
    sched_setaffinity(0, sizeof processors_, &processors_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // The numbers of the signals that a daemon gets, in their order: it runs at each one, before the next is sent, where
  // real-time scheduling is permitted. Elsewhere it may find two at once, and takes the lower number first.
  static std::string Passed(PendingSignals& signals) {
    OtherProcess daemon([]() -> std::string {
      constexpr sched_param kFirst = {.sched_priority = 1};
      (void)sched_setscheduler(0, SCHED_FIFO, &kFirst);
      sigset_t all;
      sigfillset(&all);
      std::string got;
      OtherProcess::Tell("waits");
      // The last one is sent by the test itself.
      for (int number = sigwaitinfo(&all, nullptr); number != SIGRTMAX; number = sigwaitinfo(&all, nullptr)) {
        got += std::to_string(number) + " ";
      }
      return got;
    });
    daemon.ReadLine();
    const HeldDaemon held = HeldDaemon::Of(daemon.pid(), UniqueFd());
    signals.PassTo(held);
    held.Signal(SIGRTMAX);
    return daemon.Wait().value_or("killed");
  }

  sigset_t before_{};
  cpu_set_t processors_{};
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
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGUSR1);
  EXPECT_TRUE(signals->Take());
  EXPECT_EQ(Passed(*signals), std::to_string(SIGUSR1) + " " + std::to_string(SIGTERM) + " ");
  EXPECT_EQ(Passed(*signals), std::to_string(SIGTERM) + " ");
}

}  // namespace
}  // namespace augur
