// SPDX-License-Identifier: Apache-2.0
#include "tools/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tools/augurfs_options.h"
#include "tools/augurfs_settings.h"
#include "tools/mount_options.h"
#include "tools/upgrade_options.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

AugurfsOptions With(const std::string& mount_options) {
  std::vector<const char*> words = {"augurfs", "store", "mnt"};
  if (!mount_options.empty()) words.insert(words.end(), {"-o", mount_options.c_str()});
  const Result<AugurfsOptions> options = ParseAugurfs(static_cast<int>(words.size()), words.data());
  EXPECT_TRUE(options.ok()) << options.status().text();
  return options.ok() ? *options : AugurfsOptions();
}

std::string ErrorWith(const std::string& mount_options) {
  std::vector<const char*> words = {"augurfs", "store", "mnt"};
  if (!mount_options.empty()) words.insert(words.end(), {"-o", mount_options.c_str()});
  const Result<AugurfsOptions> options = ParseAugurfs(static_cast<int>(words.size()), words.data());
  if (options.ok()) return "no error";
  EXPECT_EQ(options.status().code(), Code::kInvalid);
  return options.status().text();
}

TEST(PresetsTest, EveryRowHasOptionsThatAUserCanUndoAndHelpPrintsIt) {
  const Command& command = AugurfsProgram().commands.front();
  const auto help = std::ranges::find(command.options, std::string_view("preset"), &Option::name);
  ASSERT_NE(help, command.options.end());
  std::set<std::string_view> names;
  for (const Preset& preset : Presets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    Values values(command);
    std::string listed;
    for (const std::string& word : SplitMountOptions(preset.options)) {
      listed += (listed.empty() ? "" : ", ") + word;
      const Status status = ReadMountOption(AugurfsProgram(), command, word, values);
      EXPECT_TRUE(status.ok()) << preset.name << ": " << status.text();
      EXPECT_NE(word.find('='), std::string::npos) << word << " is a flag, which no other option undoes";
      EXPECT_FALSE(word.starts_with("preset"));
    }
    const auto place = std::ranges::find(help->choices, preset.name);
    ASSERT_NE(place, help->choices.end());
    EXPECT_THAT(std::string(help->choice_texts[static_cast<size_t>(place - help->choices.begin())]),
                StartsWith(listed + ". "));
    EXPECT_THAT(With("preset=" + std::string(preset.name)).preset, StartsWith(std::string(preset.name) + ": "));
  }
}

TEST(PresetsTest, ARowGivesItsOptions) {
  const AugurfsOptions options = With("preset=validation");
  EXPECT_TRUE(options.predict);
  EXPECT_EQ(options.cache.place, CachePlace::kNone);
  EXPECT_EQ(options.memory_bytes, uint64_t{256} << 20);
  EXPECT_EQ(options.preset, "validation: cache=none, memory=256M, predict=on, push=on");
  EXPECT_FALSE(With("preset=inference").predict);
  EXPECT_EQ(With("").preset, "");
}

TEST(PresetsTest, AnOptionThatIsTypedWinsOnEitherSide) {
  for (const char* text : {"memory=1G,cache=ram,preset=validation", "preset=validation,cache=ram,memory=1G"}) {
    const AugurfsOptions options = With(text);
    EXPECT_EQ(options.memory_bytes, uint64_t{1} << 30);
    EXPECT_EQ(options.cache.place, CachePlace::kRam);
    EXPECT_EQ(options.preset, "validation: cache=ram, memory=1G, predict=on, push=on");
  }
}

TEST(PresetsTest, TheMachineWinsOverThePurpose) {
  for (const char* text : {"preset=views+small", "preset=small+views", "preset=views,preset=small"}) {
    const AugurfsOptions options = With(text);
    EXPECT_EQ(options.memory_bytes, uint64_t{256} << 20);
    EXPECT_EQ(options.percent.memory, 0U);
    EXPECT_EQ(options.decode_threads, 1U);
    EXPECT_EQ(options.percent.decode_threads, 0U);
    EXPECT_THAT(options.preset, StartsWith("views+small: cache=ram, decode-threads=1, memory=256M, "));
  }
}

TEST(PresetsTest, APercentageIsThatOfTheMachine) {
  const AugurfsOptions options = With("preset=dedicated");
  EXPECT_EQ(options.percent.memory, 25U);
  EXPECT_EQ(options.percent.decode_threads, 50U);
  EXPECT_EQ(MemoryBudget(options, {.total_bytes = uint64_t{8} << 30, .available_bytes = 0, .source = "test"}),
            (uint64_t{8} << 30) / 100 * 25);
  // One that is typed later is in place of the percentage, as at 'augurctl restart'.
  EXPECT_EQ(With("memory=25%,memory=1G").percent.memory, 0U);
  EXPECT_EQ(With("memory=1G,memory=25%").memory_bytes, 0U);
  EXPECT_THAT(ErrorWith("memory=0%"), HasSubstr("-o memory: '0%' is not a number from 1% to 100%"));
  EXPECT_THAT(ErrorWith("memory=101%"), HasSubstr("from 1% to 100%"));
  EXPECT_THAT(ErrorWith("memory=%"), HasSubstr("from 1% to 100%"));
  EXPECT_THAT(ErrorWith("cache-size=5%"), HasSubstr("-o cache-size"));
}

TEST(PresetsTest, TheNextDaemonOfAMountHasTheSameOptions) {
  const AugurfsOptions options = With("preset=views+dedicated,push=off");
  const Result<std::vector<std::string>> line = UpgradeCommandLine(options.values, "memory=1G");
  ASSERT_TRUE(line.ok()) << line.status().text();
  std::vector<const char*> words = {"augurfs"};
  for (const std::string& word : *line) words.push_back(word.c_str());
  const Result<AugurfsOptions> next = ParseAugurfs(static_cast<int>(words.size()), words.data());
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_EQ(next->memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(next->percent.decode_threads, 50U);
  EXPECT_FALSE(next->push);
  EXPECT_THAT(next->preset, StartsWith("views+dedicated: "));
}

TEST(PresetsTest, AWrongNameIsToldWithAllNames) {
  const std::string error = ErrorWith("preset=trainig");
  EXPECT_THAT(error, StartsWith("-o preset: 'trainig' is not one of its words: training, validation, views, "
                                "inference, small, shared or dedicated"));
  EXPECT_THAT(error, HasSubstr("did you mean training?"));
  EXPECT_THAT(ErrorWith("preset=training+"), HasSubstr("'' is not one of its words"));
  EXPECT_THAT(ErrorWith("preset"), HasSubstr("the value is missing"));
  EXPECT_THAT(ErrorWith("preset=small+shared"), HasSubstr("'small' and 'shared' are both for a machine"));
  EXPECT_THAT(ErrorWith("preset=training,preset=views"), HasSubstr("both for a purpose"));
  EXPECT_EQ(With("preset=small+small").preset, With("preset=small").preset);
}

TEST(PresetsTest, TheOptionOfTheAwsProgramsIsAnother) {
  EXPECT_THAT(ErrorWith("profile=training+small"), HasSubstr("did you mean preset=training+small?"));
  EXPECT_EQ(With("profile=work").remote.s3.profile, "work");
  const std::vector<const char*> words = {"augurfs", "-o", "profile=training,preset=small", "s3://b/x", "mnt"};
  const Result<AugurfsOptions> options = ParseAugurfs(static_cast<int>(words.size()), words.data());
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->remote.s3.profile, "training");
  EXPECT_THAT(options->preset, StartsWith("small: "));
}

}  // namespace
}  // namespace augur
