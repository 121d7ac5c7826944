// SPDX-License-Identifier: Apache-2.0
#include "fuse/writable_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace augur {
namespace {

using ::testing::HasSubstr;

class WritableFolderTest : public ::testing::Test {
 protected:
  WritableFolderTest() {
    std::string name = std::filesystem::temp_directory_path() / "augur-writable-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    folder_ = WritableFolder(top_ + "/layers");
  }
  ~WritableFolderTest() override {
    std::error_code error;
    std::filesystem::remove_all(top_, error);
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  std::string top_;
  WritableFolder folder_{""};
};

TEST_F(WritableFolderTest, MakesWhatIsMissing) {
  for (int i = 0; i < 2; ++i) {
    const Status made = WritableFolder(folder_).Make("/mnt/x");
    ASSERT_TRUE(made.ok()) << made.text();
    for (const std::string& path : {folder_.lower(), folder_.upper(), folder_.work()}) {
      EXPECT_TRUE(std::filesystem::is_directory(path)) << path;
    }
    EXPECT_EQ(ModeOf(folder_.path()), 0755U);
    EXPECT_EQ(ModeOf(folder_.work()), 0700U);
  }
}

TEST_F(WritableFolderTest, UndoesWhatItMade) {
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  ASSERT_TRUE(folder_.Claim("generation 1\n").ok());
  folder_.Undo();
  EXPECT_TRUE(std::filesystem::is_empty(top_));
}

TEST_F(WritableFolderTest, UndoesNothingOfOthers) {
  for (const char* path : {"/layers", "/layers/upper", "/layers/work"}) std::filesystem::create_directory(top_ + path);
  std::ofstream(folder_.upper() + "/written") << "x";
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  ASSERT_TRUE(std::filesystem::is_directory(folder_.lower()));
  folder_.Undo();
  EXPECT_FALSE(std::filesystem::exists(folder_.lower()));
  EXPECT_TRUE(std::filesystem::exists(folder_.work()));
  EXPECT_TRUE(std::filesystem::exists(folder_.upper() + "/written"));
}

TEST_F(WritableFolderTest, RefusesAFolderOfSomethingElse) {
  std::filesystem::create_directory(top_ + "/layers");
  std::ofstream(top_ + "/layers/notes.txt") << "x";
  const Status made = folder_.Make("/mnt/x");
  EXPECT_EQ(made.code(), Code::kInvalid);
  EXPECT_THAT(made.text(), HasSubstr("has files of something else, as notes.txt: name a new folder"));
  EXPECT_FALSE(std::filesystem::exists(folder_.upper()));
}

TEST_F(WritableFolderTest, TakesAFolderThatItClaimedWhateverElseIsInIt) {
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  ASSERT_TRUE(folder_.Claim("generation 1\nindex 00ff\n").ok());
  std::ofstream(folder_.path() + "/notes.txt") << "x";
  EXPECT_TRUE(WritableFolder(folder_.path()).Make("/mnt/x").ok());
}

TEST_F(WritableFolderTest, MakesNoFolderAboveIt) {
  WritableFolder mistyped(top_ + "/mistyped/layers");
  const Status made = mistyped.Make("/mnt/x");
  EXPECT_EQ(made.code(), Code::kNotFound);
  EXPECT_THAT(made.text(), HasSubstr("the folder above it, " + top_ + "/mistyped, does not exist"));
  EXPECT_TRUE(std::filesystem::is_empty(top_));
}

TEST_F(WritableFolderTest, NotesTheOverlayOfTheLastMount) {
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  for (const std::string device : {"0:141", "0:7"}) {
    ASSERT_TRUE(folder_.NoteOverlay(device).ok());
    std::string line;
    std::ifstream(folder_.path() + "/overlay") >> line;
    EXPECT_EQ(line, device);
  }
  std::filesystem::remove(folder_.path() + "/overlay");
  std::filesystem::create_symlink(top_ + "/elsewhere", folder_.path() + "/overlay");
  EXPECT_FALSE(folder_.NoteOverlay("0:7").ok());
  EXPECT_FALSE(std::filesystem::exists(top_ + "/elsewhere"));
}

TEST_F(WritableFolderTest, BelongsToTheTreeOfItsFirstClaim) {
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  ASSERT_EQ(chmod(folder_.lower().c_str(), 0751), 0);
  const std::string tree = "generation 1\nindex 00ff\n";
  ASSERT_TRUE(folder_.Claim(tree).ok());
  EXPECT_EQ(ModeOf(folder_.upper()), 0751U);
  ASSERT_EQ(chmod(folder_.upper().c_str(), 0700), 0);
  ASSERT_TRUE(folder_.Claim(tree).ok());
  EXPECT_EQ(ModeOf(folder_.upper()), 0700U) << "it is set at first alone";

  const Status later = folder_.Claim("generation 2\nindex 00fe\n");
  EXPECT_EQ(later.code(), Code::kChanged);
  EXPECT_THAT(later.text(), HasSubstr("generation 1, and this is generation 2, and would hide files"));
  EXPECT_THAT(later.text(), HasSubstr("if that was this store, mount with generation=1"));
  EXPECT_THAT(folder_.Claim("generation 1\nindex 00fe\n").text(), HasSubstr("over another store"));
  EXPECT_THAT(folder_.Claim(tree + "view npy+size=8\n").text(), HasSubstr("over the original files"));
}

TEST_F(WritableFolderTest, ADamagedMarkIsAnotherTree) {
  ASSERT_TRUE(folder_.Make("/mnt/x").ok());
  std::ofstream(folder_.path() + "/of") << "generation";
  EXPECT_EQ(folder_.Claim("generation 1\nindex 00ff\n").code(), Code::kChanged);
}

TEST_F(WritableFolderTest, RefusesPathsThatCannotBe) {
  for (const char* path : {"/tmp/a,b", "/tmp/a:b", "/tmp/a\\b"}) {
    EXPECT_THAT(WritableFolder(path).Make("/mnt/x").text(), HasSubstr("a comma, a colon or a backslash")) << path;
  }
  EXPECT_THAT(WritableFolder(top_ + "/y").Make(top_).text(), HasSubstr("one lies in the other"));
  EXPECT_THAT(WritableFolder(top_).Make(top_ + "/x").text(), HasSubstr("one lies in the other"));
  EXPECT_TRUE(std::filesystem::is_empty(top_));
  EXPECT_TRUE(WritableFolder(top_ + "/mnt-x").Make(top_ + "/mnt").ok()) << "a name that begins alike";
}

}  // namespace
}  // namespace augur
