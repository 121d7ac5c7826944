// SPDX-License-Identifier: Apache-2.0
#include "tools/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tools/augurfs_options.h"
#include "tools/augurpack_options.h"
#include "tools/completions.h"
#include "tools/help.h"
#include "tools/man_page.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProgramTest : public testing::TestWithParam<const Program*> {};

// Rules that every row keeps, so that help and manual read alike.
TEST_P(ProgramTest, RowsAreComplete) {
  for (const Command& command : GetParam()->commands) {
    std::set<std::string> names;
    std::set<char> shorts = {'h', 'o'};
    for (const Option& option : command.options) {
      SCOPED_TRACE(std::string(command.name) + " " + std::string(option.name));
      EXPECT_TRUE(names.insert(std::string(option.name)).second) << "twice";
      const bool repeats = option.short_name != 0 && !shorts.insert(option.short_name).second;
      EXPECT_FALSE(repeats) << "short name twice";
      EXPECT_FALSE(option.brief.empty());
      EXPECT_LE(option.brief.size(), 72U);
      EXPECT_THAT(std::string(option.brief), Not(testing::EndsWith(".")));
      EXPECT_EQ(option.value.empty(), option.kind == OptionKind::kFlag);
      // The words of a list may be joined.
      if (option.kind != OptionKind::kList) {
        EXPECT_EQ(option.choices.empty(), option.kind != OptionKind::kChoice);
      }
      EXPECT_LE(option.min, option.max);
    }
  }
}

// Values' constructor reads every default by the rules of its row, and stops the program when one breaks them.
TEST_P(ProgramTest, DefaultsKeepTheirOwnLimits) {
  for (const Command& command : GetParam()->commands) {
    const Values values(command);
    for (const Argument& argument : command.arguments) EXPECT_FALSE(values.Given(argument.name));
  }
}

TEST_P(ProgramTest, EveryOptionIsInEveryView) {
  const Program& program = *GetParam();
  const std::string man = ManPage(program);
  const std::string bash = BashCompletions(program);
  const std::string zsh = ZshCompletions(program);
  for (const Command& command : program.commands) {
    const std::string help = LongHelp(program, &command);
    const std::string brief = ShortHelp(program, &command);
    for (const Option& option : command.options) {
      const std::string name(option.name);
      SCOPED_TRACE(std::string(command.name) + " " + name);
      const std::string form = (option.place == OptionPlace::kMount ? "-o " : "--") + name;
      EXPECT_THAT(help, HasSubstr(form));
      EXPECT_THAT(brief, HasSubstr(form));
      EXPECT_THAT(bash, HasSubstr(name));
      EXPECT_THAT(zsh, HasSubstr(name));
      std::string troff;
      for (const char c : form) troff += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_THAT(man, HasSubstr("\\fB" + troff + (option.value.empty() ? "\\fR" : "")));
    }
  }
}

TEST_P(ProgramTest, HelpKeepsToAHundredColumns) {
  const Program& program = *GetParam();
  for (const Command& command : program.commands) {
    for (const std::string& text : {LongHelp(program, &command), ShortHelp(program, &command)}) {
      for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        ASSERT_NE(end, std::string::npos) << "a last line without newline";
        EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
        begin = end + 1;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, ProgramTest, testing::Values(&AugurfsProgram(), &AugurpackProgram()),
                         [](const auto& param) { return std::string(param.param->name); });

}  // namespace
}  // namespace augur
