// SPDX-License-Identifier: Apache-2.0
#include "tools/augurctl_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<AugurctlOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "augurctl");
  return ParseAugurctl(static_cast<int>(arguments.size()), arguments.data());
}

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const Result<AugurctlOptions> options = Parse(arguments);
  return options.ok() ? "no error" : options.status().text();
}

TEST(AugurctlOptionsTest, EveryCommandTakesTheMountPointFirst) {
  for (const Command& command : AugurctlProgram().commands) {
    ASSERT_FALSE(command.arguments.empty()) << command.name;
    EXPECT_EQ(command.arguments[0].name, "MOUNTPOINT") << command.name;
    EXPECT_FALSE(command.arguments[0].optional) << command.name;
  }
}

TEST(AugurctlOptionsTest, ReadsHint) {
  for (const std::vector<const char*>& line :
       {std::vector<const char*>{"hint", "/mnt", "--order", "file"}, {"hint", "--order=file", "/mnt"}}) {
    const Result<AugurctlOptions> options = Parse(line);
    ASSERT_TRUE(options.ok()) << options.status().text();
    const auto& hint = std::get<HintOptions>(options->command);
    EXPECT_EQ(hint.mountpoint, "/mnt");
    EXPECT_EQ(hint.order, "file");
  }
  const Result<AugurctlOptions> from_stdin = Parse({"hint", "/mnt", "--order", "-"});
  ASSERT_TRUE(from_stdin.ok()) << from_stdin.status().text();
  EXPECT_EQ(std::get<HintOptions>(from_stdin->command).order, "-");
}

TEST(AugurctlOptionsTest, ReadsStatusAndDrop) {
  const Result<AugurctlOptions> status = Parse({"status", "/mnt", "--json"});
  ASSERT_TRUE(status.ok()) << status.status().text();
  EXPECT_TRUE(std::get<StatusOptions>(status->command).json);
  const Result<AugurctlOptions> drop = Parse({"drop", "/mnt"});
  ASSERT_TRUE(drop.ok()) << drop.status().text();
  EXPECT_EQ(std::get<DropOptions>(drop->command).mountpoint, "/mnt");
  EXPECT_FALSE(std::get<DropOptions>(drop->command).json);
}

TEST(AugurctlOptionsTest, WrongLinesAreRefused) {
  EXPECT_THAT(ErrorOf({"hint", "/mnt"}), StartsWith("hint: --order is missing"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--order", ""}), HasSubstr("--order"));
  EXPECT_THAT(ErrorOf({"status"}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(ErrorOf({"status", "/mnt", "/other"}), HasSubstr("too many"));
  EXPECT_THAT(ErrorOf({"statu", "/mnt"}), HasSubstr("did you mean status?"));
  EXPECT_THAT(ErrorOf({"drop", "/mnt", "--order", "x"}), HasSubstr("--order"));
}

}  // namespace
}  // namespace augur
