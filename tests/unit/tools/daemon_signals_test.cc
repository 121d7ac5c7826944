// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_signals.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "fuse/holder_link.h"

namespace augur {
namespace {

[[noreturn]] void Crash() {
  raise(SIGSEGV);
  _exit(1);
}

int StatusOf(pid_t process) {
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  return status;
}

// A daemon that forks a process as each of its helpers is forked. Which of them dies of SIGSEGV?
void RunDaemon(UniqueFd socket, bool child_crashes) {
  const rlimit none{};
  (void)setrlimit(RLIMIT_CORE, &none);
  // A sanitizer puts a handler there before main, which would end the process by exit.
  (void)signal(SIGSEGV, SIG_DFL);
  const HolderLink link(HolderLink::Task::kFirst, {}, std::move(socket), {});
  TellOfCrashes(link);
  if (!child_crashes) Crash();
  const pid_t child = fork();
  if (child == 0) Crash();
  int status = 0;
  (void)waitpid(child, &status, 0);
  _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 0 : 1);
}

class CrashTest : public testing::TestWithParam<bool> {};

TEST_P(CrashTest, TheHolderIsToldOfTheDaemonAlone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t daemon = fork();
  ASSERT_GE(daemon, 0);
  if (daemon == 0) RunDaemon(std::move(theirs), GetParam());
  theirs.Reset();
  const int status = StatusOf(daemon);
  HolderMessage message;
  const ssize_t bytes = recv(ours.get(), &message, sizeof message, MSG_DONTWAIT);
  if (GetParam()) {
    EXPECT_EQ(status, 0) << "the process that it forked died of the signal";
    EXPECT_EQ(bytes, 0) << "nothing was told";
  } else {
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
    ASSERT_EQ(bytes, static_cast<ssize_t>(sizeof message));
    EXPECT_EQ(message.verb, HolderVerb::kDying);
    EXPECT_EQ(message.value, SIGSEGV);
  }
}

// In a process of its own, whose signals stay blocked. The exit status says what was wrong.
TEST(HearSignalsTest, OneThatEndsHidesNoneThatAsks) {
  const pid_t daemon = fork();
  ASSERT_GE(daemon, 0);
  if (daemon == 0) {
    const Result<UniqueFd> signals = TakeSignals();
    if (!signals.ok()) _exit(1);
    if (HearSignals(*signals).end != 0 || HearSignals(*signals).asks_statistics) _exit(2);
    for (const int number : {SIGUSR1, SIGTERM, SIGINT}) kill(getpid(), number);
    const HeardSignals heard = HearSignals(*signals);
    if (heard.end != SIGINT || !heard.asks_statistics) _exit(3);
    _exit(HearSignals(*signals).end == 0 ? 0 : 4);
  }
  EXPECT_EQ(StatusOf(daemon), 0);
}

INSTANTIATE_TEST_SUITE_P(Who, CrashTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "AForkedProcess" : "TheDaemon"; });

}  // namespace
}  // namespace augur
