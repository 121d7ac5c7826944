// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Attributes kFile{.mode = 0644, .mtime_sec = 1000, .mtime_nsec = 5};

class RecipeTest : public StoreWriterTest {
 protected:
  // A run that stored "a" and was ended.
  void StopWith(const std::string& recipe, bool keeps_work = false) const {
    const auto writer = Begin({.recipe = recipe});
    ASSERT_NE(writer, nullptr);
    if (keeps_work) WriteText(WorkFolder(store_) + "/kept", "of the caller");
    ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  }
  // Whether a run with this recipe goes on with it.
  bool GoesOnWith(const std::string& recipe) const {
    const auto writer = Begin({.resume = true, .recipe = recipe});
    const Result<bool> resumed = writer->Resume("a", kFile, 3);
    EXPECT_TRUE(resumed.ok()) << resumed.status().text();
    if (!*resumed) {
      EXPECT_TRUE(AddText(*writer, "a", "two").ok());
    }
    EXPECT_TRUE(writer->Commit().ok());
    EXPECT_EQ(Defects(), "");
    EXPECT_THAT(Files(), ElementsAre("index-00000001", "shard-00000001-00000"));
    return *resumed;
  }
};

TEST_F(RecipeTest, IsGoneOnWithWhenItIsTheSame) {
  StopWith("npy");
  EXPECT_TRUE(GoesOnWith("npy"));
  EXPECT_EQ(ReadFile("a"), "one");
}

TEST_F(RecipeTest, IsNotWhenItIsAnother) {
  StopWith("npy");
  EXPECT_FALSE(GoesOnWith("npy+size=3"));
  EXPECT_EQ(ReadFile("a"), "two");
}

TEST_F(RecipeTest, IsNotByAWriterWithoutOne) {
  StopWith("npy");
  EXPECT_FALSE(GoesOnWith(""));
}

TEST_F(RecipeTest, DoesNotGoOnWithWhatHadNone) {
  StopWith("");
  EXPECT_FALSE(GoesOnWith("npy"));
}

TEST_F(RecipeTest, HalfWrittenIsNoRecipe) {
  StopWith("npy+size=3");
  std::ofstream(WorkFolder(store_) + "/recipe") << "npy";
  EXPECT_FALSE(GoesOnWith("npy+size=3"));
}

TEST_F(RecipeTest, TheWorkFolderIsTheCallersUntilCommit) {
  StopWith("npy", true);
  {
    const auto writer = Begin({.resume = true, .recipe = "npy"});
    EXPECT_TRUE(std::filesystem::exists(WorkFolder(store_) + "/kept"));
    ASSERT_TRUE(AddText(*writer, "b", "two").ok());
    std::filesystem::create_directories(WorkFolder(store_) + "/deep/er");
    ASSERT_TRUE(writer->Commit().ok());
  }
  EXPECT_FALSE(std::filesystem::exists(WorkFolder(store_)));
}

TEST_F(RecipeTest, TheWorkFolderAloneIsGoneOnWith) {
  {
    const auto writer = Begin({.recipe = "npy"});
    WriteText(WorkFolder(store_) + "/kept", "x");
  }
  EXPECT_THAT(Files(), ElementsAre(".augurpack-work"));
  {
    const auto writer = Begin({.resume = true, .recipe = "npy"});
    EXPECT_TRUE(std::filesystem::exists(WorkFolder(store_) + "/kept"));
  }
  const auto writer = Begin({.recipe = "npy"});  // without resume it is cleared
  EXPECT_FALSE(std::filesystem::exists(WorkFolder(store_) + "/kept"));
}

TEST_F(RecipeTest, NothingIsLeftOfARunThatDidNothing) {
  { const auto writer = Begin({.recipe = "npy"}); }
  EXPECT_FALSE(std::filesystem::exists(store_));
}

TEST_F(RecipeTest, WhatIsLeftBesideAStoreIsRemovedWithOldGenerations) {
  Create({{"a", "one"}});
  std::filesystem::create_directories(WorkFolder(store_) + "/source");
  WriteText(WorkFolder(store_) + "/source/shard", "four");
  const auto report = RemoveOldGenerations(store_);
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->removed_files, 1U);
  EXPECT_EQ(report->removed_bytes, 4U);
  EXPECT_FALSE(std::filesystem::exists(WorkFolder(store_)));
}

TEST_F(RecipeTest, AFolderOfThisNameIsSomebodyElsesWhereNoWriterWas) {
  std::filesystem::create_directories(WorkFolder(store_));
  EXPECT_THAT(BeginStatus({.recipe = "npy"}).text(), HasSubstr("holds other files ('.augurpack-work')"));
  EXPECT_TRUE(std::filesystem::exists(WorkFolder(store_)));
}

}  // namespace
}  // namespace augur
