// SPDX-License-Identifier: Apache-2.0
// An upgrade until the next daemon takes over. Promise: a failure of the next daemon is seen, and the mount stays.
#include "fuse/upgrade_attempt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace augur {
namespace {

using std::chrono::seconds;

ProgramRequest Wanting(std::string_view path) {
  ProgramRequest request;
  path.copy(request.path.data(), path.size());
  return request;
}

HeldProgram Running(std::string_view path, bool has_file) {
  HeldProgram program{.file = {}, .request = Wanting(path)};
  if (has_file) program.file.Reset(open("/dev/null", O_PATH | O_CLOEXEC));
  return program;
}

std::string_view PathOf(const UpgradeAttempt& attempt) { return attempt.program.request.path.data(); }

// With a next daemon that waits until it is killed.
UpgradeAttempt UnderWay() {
  UpgradeAttempt attempt = UpgradeAttempt::Of(Wanting("/asked"), {}, {}, "/own");
  const pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  attempt.daemon = HeldDaemon::Of(pid, {});
  return attempt;
}

void Kill(const UpgradeAttempt& attempt) {
  attempt.daemon.Signal(SIGKILL);
  siginfo_t info{};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(attempt.daemon.pid), &info, WEXITED | WNOWAIT), 0);
}

TEST(UpgradeAttempt, IsOfTheProgramThatTheRequestNames) {
  EXPECT_EQ(PathOf(UpgradeAttempt::Of(Wanting("/asked"), {}, Running("/runs", true), "/own")), "/asked");
  EXPECT_EQ(PathOf(UpgradeAttempt::Of(Wanting(""), {}, Running("/runs", true), "/own")), "/runs");
  EXPECT_EQ(PathOf(UpgradeAttempt::Of(Wanting(""), {}, Running("/runs", false), "/own")), "/own");
}

TEST(UpgradeAttempt, EndsTheTextsOfItsRequest) {
  ProgramRequest request;
  request.path.fill('/');
  request.options.fill('o');
  const UpgradeAttempt attempt = UpgradeAttempt::Of(request, {}, {}, "/own");
  EXPECT_EQ(PathOf(attempt).size(), ProgramRequest::kTextBytesMax - 1);
  EXPECT_EQ(std::string_view(attempt.program.request.options.data()).size(), ProgramRequest::kTextBytesMax - 1);
}

TEST(UpgradeAttempt, FailsWhenItIsNotPreparedInTime) {
  UpgradeAttempt attempt = UnderWay();
  ASSERT_TRUE(attempt.is_under_way());
  EXPECT_EQ(attempt.due(), attempt.prepares_until);
  EXPECT_FALSE(attempt.Failure(attempt.prepares_until - seconds(1)).has_value());
  EXPECT_EQ(attempt.Failure(attempt.prepares_until), kNotInTime);
  EXPECT_TRUE(attempt.Note({.verb = HolderVerb::kPrepared}, {}));
  EXPECT_FALSE(attempt.due().has_value());
  EXPECT_FALSE(attempt.Failure(attempt.prepares_until).has_value());
  Kill(attempt);
  EXPECT_EQ(waitpid(attempt.daemon.pid, nullptr, 0), attempt.daemon.pid);
}

TEST(UpgradeAttempt, FailsWhenItsDaemonEnds) {
  const UpgradeAttempt attempt = UnderWay();
  ASSERT_TRUE(attempt.is_under_way());
  Kill(attempt);
  const std::optional<int32_t> failure = attempt.Failure({});
  int status = 0;
  ASSERT_EQ(waitpid(attempt.daemon.pid, &status, 0), attempt.daemon.pid);
  EXPECT_EQ(failure, status);
}

TEST(UpgradeAttempt, TakesTheProgramThatItsDaemonOpens) {
  UpgradeAttempt attempt;
  EXPECT_FALSE(attempt.Note({.verb = HolderVerb::kProgram}, {}));
  EXPECT_FALSE(attempt.program.file.valid());
  std::array<UniqueFd, 1> fds = {UniqueFd(open("/dev/null", O_PATH | O_CLOEXEC))};
  EXPECT_FALSE(attempt.Note({.verb = HolderVerb::kProgram}, fds));
  EXPECT_TRUE(attempt.program.file.valid());
}

TEST(UpgradeAttempt, NoneHasNotFailed) {
  EXPECT_FALSE(UpgradeAttempt().is_under_way());
  EXPECT_FALSE(UpgradeAttempt().due().has_value());
  EXPECT_FALSE(UpgradeAttempt().Failure(UpgradeAttempt::Clock::now()).has_value());
}

}  // namespace
}  // namespace augur
