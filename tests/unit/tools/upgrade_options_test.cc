// SPDX-License-Identifier: Apache-2.0
#include "tools/upgrade_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/augurfs_options.h"
#include "tools/mount_options.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

AugurfsOptions Parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "augurfs");
  const Result<AugurfsOptions> options = ParseAugurfs(static_cast<int>(words.size()), words.data());
  EXPECT_TRUE(options.ok()) << options.status().text();
  return *options;
}

// Promise: the next daemon's command line says what the one before had, each value as it was meant.
TEST(UpgradeCommandLine, SaysTheSame) {
  const AugurfsOptions options = Parsed({"-f", "-o", "memory=1G,umask=027,allow_other,foreign=/a\\,b,foreign=/c", "-o",
                                         "log=/x\\\\y", "--", "-store", "/mount"});
  const auto words = UpgradeCommandLine(options.values, "");
  ASSERT_TRUE(words.ok()) << words.status().text();
  EXPECT_THAT(*words,
              ElementsAre("--foreground", "-o", "memory=1073741824", "-o", "umask=27", "-o", "allow_other", "-o",
                          "foreign=/a\\,b", "-o", "foreign=/c", "-o", "log=/x\\\\y", "--", "-store", "/mount"));
  std::vector<const char*> again;
  for (const std::string& word : *words) again.push_back(word.c_str());
  const AugurfsOptions read = Parsed(again);
  EXPECT_TRUE(read.foreground);
  EXPECT_EQ(read.memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(read.umask, 027U);
  EXPECT_TRUE(read.flags.allow_other);
  EXPECT_THAT(read.foreign, ElementsAre("/a,b", "/c"));
  EXPECT_EQ(read.log_path, "/x\\y");
  EXPECT_EQ(read.store, "-store");
  EXPECT_EQ(read.mountpoint, "/mount");
}

TEST(UpgradeCommandLine, ChangedOptionsStandInPlaceOfTheOthers) {
  const AugurfsOptions options = Parsed({"-o", "memory=1G,uid=5", "/store", "/mount"});
  const auto words = UpgradeCommandLine(options.values, "memory=67108864,log=/a\\,b");
  ASSERT_TRUE(words.ok()) << words.status().text();
  EXPECT_THAT(*words,
              ElementsAre("-o", "memory=67108864", "-o", "uid=5", "-o", "log=/a\\,b", "--", "/store", "/mount"));
}

// Promise: the holder, which may be root, takes no other option from a daemon, which may be another user's.
TEST(UpgradeCommandLine, OtherOptionsAreRefused) {
  const AugurfsOptions options = Parsed({"-o", "run-as=nobody", "/store", "/mount"});
  for (const char* text : {"run-as=root", "foreign=/", "memory=1G,restart=no", "decoded-cache=/root"}) {
    EXPECT_EQ(UpgradeCommandLine(options.values, text).status().code(), Code::kInvalid) << text;
  }
}

TEST(UpgradeOptions, HasAllThatCanChangeAndIsGiven) {
  const AugurfsOptions options = Parsed({"-o", "memory=1G,uid=5,log=/log", "/store", "/mount"});
  const std::vector<std::string> words = {"predict=off", "memory=2G"};
  const Result<std::string> text = UpgradeOptions(options.values, words, HandOverKind::kRestart, 7);
  ASSERT_TRUE(text.ok()) << text.status().text();
  EXPECT_THAT(SplitMountOptions(*text),
              UnorderedElementsAre("memory=2147483648", "predict=off", "log=/log", "generation=7"));
  const Result<std::string> same = UpgradeOptions(options.values, {}, HandOverKind::kReload, 7);
  ASSERT_TRUE(same.ok()) << same.status().text();
  EXPECT_THAT(SplitMountOptions(*same), UnorderedElementsAre("memory=1073741824", "log=/log", "generation=7"));
}

TEST(UpgradeOptions, AReloadNamesTheGeneration) {
  const AugurfsOptions options = Parsed({"-o", "generation=3", "/store", "/mount"});
  const std::vector<std::string> words = {"generation=5", "predict=off"};
  EXPECT_EQ(GenerationIn(words), 5U);
  EXPECT_EQ(GenerationIn({}), 0U);
  const Result<std::string> text = UpgradeOptions(options.values, words, HandOverKind::kReload, 3);
  ASSERT_TRUE(text.ok()) << text.status().text();
  EXPECT_THAT(SplitMountOptions(*text), UnorderedElementsAre("generation=5", "predict=off"));
  EXPECT_THAT(*UpgradeCommandLine(options.values, *text),
              UnorderedElementsAre("-o", "generation=5", "-o", "predict=off", "--", "/store", "/mount"));
}

TEST(UpgradeOptions, RefusesByName) {
  const AugurfsOptions options = Parsed({"/store", "/mount"});
  const auto refusal = [&](const std::string& word, HandOverKind kind = HandOverKind::kRestart) {
    const std::vector<std::string> words = {word};
    const Status status = UpgradeOptions(options.values, words, kind, 1).status();
    EXPECT_EQ(status.code(), Code::kInvalid);
    return status.text();
  };
  EXPECT_THAT(refusal("uid=5"), HasSubstr("-o uid: cannot change"));
  EXPECT_THAT(refusal("uid=5"), HasSubstr("memory, cache-size, predict and log can"));
  EXPECT_THAT(refusal("uid=5", HandOverKind::kReload), HasSubstr("generation and root-hash can"));
  EXPECT_THAT(refusal("generation=2"), HasSubstr("use 'augurctl reload'"));
  EXPECT_THAT(refusal("generation=0", HandOverKind::kReload), HasSubstr("-o generation"));
  EXPECT_THAT(refusal("ro"), HasSubstr("-o ro: cannot change"));
  EXPECT_THAT(refusal("memory"), HasSubstr("the value is missing"));
  EXPECT_THAT(refusal("memory=1M"), HasSubstr("too small"));
  EXPECT_THAT(refusal("predict=maybe"), HasSubstr("'maybe'"));
  EXPECT_THAT(refusal("log=here"), HasSubstr("give an absolute path"));
}

}  // namespace
}  // namespace augur
