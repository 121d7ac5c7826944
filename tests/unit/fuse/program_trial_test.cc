// SPDX-License-Identifier: Apache-2.0
// The program of a mount's daemons. Promise: an upgrade that fails leaves the mount to the program before.
#include "fuse/program_trial.h"

#include <gtest/gtest.h>

#include <string_view>

namespace augur {
namespace {

using std::chrono::seconds;

constexpr ProgramTrial::Clock::time_point kBegin{seconds(1000)};

HeldProgram Named(std::string_view path) {
  HeldProgram program;
  path.copy(program.request.path.data(), path.size());
  return program;
}

std::string_view PathOf(const ProgramTrial& trial) { return trial.program().request.path.data(); }

TEST(ProgramTrial, FailsBackToTheProgramBefore) {
  ProgramTrial trial;
  trial.Begin(Named("/one"), kBegin);
  trial.Pass();
  EXPECT_FALSE(trial.is_on());
  trial.Begin(Named("/two"), kBegin);
  EXPECT_TRUE(trial.is_on());
  EXPECT_EQ(PathOf(trial), "/two");
  trial.Fail();
  EXPECT_FALSE(trial.is_on());
  EXPECT_EQ(PathOf(trial), "/one");
}

TEST(ProgramTrial, FailsNoMoreOnceTheMountAnswers) {
  ProgramTrial trial;
  trial.Begin(Named("/one"), kBegin);
  trial.Pass();
  trial.Fail();
  EXPECT_EQ(PathOf(trial), "/one");
  EXPECT_FALSE(trial.due().has_value());
  EXPECT_FALSE(trial.IsOverdue(kBegin + seconds(1000)));
}

TEST(ProgramTrial, IsOverdueOnceInTenSeconds) {
  ProgramTrial trial;
  EXPECT_FALSE(trial.IsOverdue(kBegin));
  trial.Begin(Named("/one"), kBegin);
  EXPECT_FALSE(trial.IsOverdue(kBegin + seconds(9)));
  EXPECT_EQ(trial.due(), kBegin + seconds(10));
  EXPECT_TRUE(trial.IsOverdue(kBegin + seconds(10)));
  EXPECT_FALSE(trial.IsOverdue(kBegin + seconds(19)));
  EXPECT_TRUE(trial.IsOverdue(kBegin + seconds(20)));
}

}  // namespace
}  // namespace augur
