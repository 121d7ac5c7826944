// SPDX-License-Identifier: Apache-2.0
#include "tools/augurctl_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "samplers/sampler_hint.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
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
    EXPECT_EQ(command.arguments[0].optional, command.name == "doctor") << command.name;
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

TEST(AugurctlOptionsTest, ReadsWarm) {
  const auto all = Parse({"warm", "/mnt", "--all", "--json"});
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(std::get<WarmOptions>(all->command).order, "");
  EXPECT_TRUE(std::get<WarmOptions>(all->command).json);
  const auto some = Parse({"warm", "/mnt", "--order", "-"});
  ASSERT_TRUE(some.ok()) << some.status().text();
  EXPECT_EQ(std::get<WarmOptions>(some->command).order, "-");
  EXPECT_FALSE(std::get<WarmOptions>(some->command).json);
  EXPECT_TRUE(Parse({"warm", "/mnt"}).ok());
  EXPECT_THAT(ErrorOf({"warm", "/mnt", "--order", "file", "--all"}), HasSubstr("give one of them"));
  EXPECT_THAT(ErrorOf({"warm", "/mnt", "--order="}), HasSubstr("the value is empty"));
}

TEST(AugurctlOptionsTest, ReadsHintOfASampler) {
  const Result<AugurctlOptions> options =
      Parse({"hint", "/mnt", "--sampler", "distributed", "--seed=-42", "--epoch-from", "2", "--world-size", "8",
             "--ranks", "0-3", "--drop-last"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  const auto& hint = std::get<HintOptions>(options->command);
  EXPECT_EQ(hint.order, "");
  EXPECT_THAT(hint.sampler, ElementsAre("--sampler=distributed", "--seed=-42", "--epoch-from=2", "--world-size=8",
                                        "--ranks=0-3", "--drop-last"));
  const Result<SamplerHint> understood = ParseSamplerHint(hint.sampler);
  ASSERT_TRUE(understood.ok()) << understood.status().text();
  EXPECT_EQ(understood->seed, static_cast<uint64_t>(-42));
  EXPECT_THAT(understood->ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(understood->drop_last);
}

TEST(AugurctlOptionsTest, ReplaceGoesWithAnOrder) {
  const Result<AugurctlOptions> options = Parse({"hint", "/mnt", "--order", "file", "--replace"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_TRUE(std::get<HintOptions>(options->command).replace);
  EXPECT_EQ(Parse({"hint", "/mnt", "--sampler", "torch", "--seed", "1", "--replace"}).status().code(), Code::kInvalid);
}

// The table of augurctl and the reader of hints know the same options.
TEST(AugurctlOptionsTest, EveryOptionOfASamplerIsOneOfAHint) {
  const Command& hint = AugurctlProgram().commands.front();
  ASSERT_EQ(hint.name, "hint");
  size_t count = 0;
  for (const Option& option : hint.options) {
    if (option.name == "order" || option.name == "replace" || option.name == "sampler") continue;
    ++count;
    std::vector<std::string> words = {"--world-size=4", "--" + std::string(option.name)};
    if (option.kind != OptionKind::kFlag) words.back() += "=" + std::to_string(std::max<uint64_t>(option.min, 1));
    EXPECT_TRUE(ParseSamplerHint(words).ok()) << ParseSamplerHint(words).status().text();
    if (option.kind != OptionKind::kCount) continue;
    for (const uint64_t limit : {option.min, option.max}) {
      words = {"--" + std::string(option.name) + "=" + std::to_string(limit)};
      EXPECT_TRUE(ParseSamplerHint(words).ok()) << ParseSamplerHint(words).status().text();
    }
    words = {"--" + std::string(option.name) + "=" + std::to_string(option.max + 1)};
    EXPECT_FALSE(ParseSamplerHint(words).ok()) << words[0];
  }
  // The reader lists all of its options when it is given another one.
  const std::string listed = ParseSamplerHint(std::vector<std::string>{"--none"}).status().text();
  size_t known = 0;
  for (size_t at = listed.find("--", listed.find("give")); at != std::string::npos; at = listed.find("--", at + 2))
    ++known;
  EXPECT_EQ(known, count + 1) << listed;  // and --sampler
}

TEST(AugurctlOptionsTest, HelpAndManPageNameAllSamplers) {
  const Result<AugurctlOptions> help = Parse({"hint", "--help"});
  const Result<AugurctlOptions> man = Parse({"--man"});
  const Result<AugurctlOptions> bash = Parse({"--completions", "bash"});
  ASSERT_TRUE(help.ok() && man.ok() && bash.ok());
  ASSERT_FALSE(NamedSamplers().empty());
  std::string words = bash->print;
  std::ranges::replace(words, '"', ' ');
  for (const NamedSampler& named : NamedSamplers()) {
    EXPECT_THAT(help->print, HasSubstr("\n            " + std::string(named.name) + ": "));
    std::string escaped;
    for (const char c : named.name) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_THAT(man->print, HasSubstr(".TP\n\\fB" + escaped + "\\fR\n"));
    EXPECT_THAT(words, HasSubstr(" " + std::string(named.name) + " "));
  }
}

TEST(AugurctlOptionsTest, ReadsStatusDropAndViews) {
  const Result<AugurctlOptions> status = Parse({"status", "/mnt", "--json"});
  ASSERT_TRUE(status.ok()) << status.status().text();
  EXPECT_TRUE(std::get<StatusOptions>(status->command).json);
  const Result<AugurctlOptions> drop = Parse({"drop", "/mnt"});
  ASSERT_TRUE(drop.ok()) << drop.status().text();
  EXPECT_EQ(std::get<DropOptions>(drop->command).mountpoint, "/mnt");
  EXPECT_FALSE(std::get<DropOptions>(drop->command).json);
  const Result<AugurctlOptions> views = Parse({"views", "/mnt", "--json"});
  ASSERT_TRUE(views.ok()) << views.status().text();
  EXPECT_EQ(std::get<ViewsOptions>(views->command).mountpoint, "/mnt");
  EXPECT_TRUE(std::get<ViewsOptions>(views->command).json);
}

TEST(AugurctlOptionsTest, ReadsTopAndDoctor) {
  const Result<AugurctlOptions> top = Parse({"top", "/mnt", "--once", "--json", "--seconds", "3"});
  ASSERT_TRUE(top.ok()) << top.status().text();
  EXPECT_TRUE(std::get<TopOptions>(top->command).once && std::get<TopOptions>(top->command).json);
  EXPECT_EQ(std::get<TopOptions>(top->command).seconds, 3u);
  EXPECT_THAT(ErrorOf({"top", "/mnt", "--json"}), HasSubstr("--json goes with --once"));
  EXPECT_THAT(ErrorOf({"top"}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(ErrorOf({"doctor", "/mnt", "--seconds", "0"}), HasSubstr("1"));
  const Result<AugurctlOptions> doctor = Parse({"doctor", "/mnt"});
  ASSERT_TRUE(doctor.ok()) << doctor.status().text();
  EXPECT_EQ(std::get<DoctorOptions>(doctor->command).mountpoint, "/mnt");
  EXPECT_EQ(std::get<DoctorOptions>(doctor->command).seconds, 10u);
  const Result<AugurctlOptions> machine = Parse({"doctor"});
  ASSERT_TRUE(machine.ok()) << machine.status().text();
  EXPECT_EQ(std::get<DoctorOptions>(machine->command).mountpoint, "");
}

TEST(AugurctlOptionsTest, WrongLinesAreRefused) {
  EXPECT_THAT(ErrorOf({"hint", "/mnt"}), StartsWith("hint: --order or --sampler is missing"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--order", "x", "--sampler", "torch"}), HasSubstr("give one of them"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--order", "x", "--seed", "1"}), HasSubstr("--seed goes with --sampler"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--seed", "1"}), HasSubstr("is missing"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--sampler", "torhc"}), HasSubstr("torch, torch-1.8, "));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--sampler", "torch", "--seed", "x"}), HasSubstr("--seed: x is not"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--sampler", "torch", "--ranks", "4"}), HasSubstr("give --world-size"));
  EXPECT_THAT(ErrorOf({"hint", "/mnt", "--order", ""}), HasSubstr("--order"));
  EXPECT_THAT(ErrorOf({"status"}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(ErrorOf({"status", "/mnt", "/other"}), HasSubstr("too many"));
  EXPECT_THAT(ErrorOf({"statu", "/mnt"}), HasSubstr("did you mean status?"));
  EXPECT_THAT(ErrorOf({"drop", "/mnt", "--order", "x"}), HasSubstr("--order"));
}

}  // namespace
}  // namespace augur
