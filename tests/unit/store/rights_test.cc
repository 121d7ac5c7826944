// SPDX-License-Identifier: Apache-2.0
// Which files a store may make the program read: SECURITY, FORMAT.md section 6.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "augur/store.h"
#include "base/unique_fd.h"
#include "store/file_user.h"
#include "store/path_walk.h"
#include "store/shard_rights.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

constexpr uid_t kMallory = 4321;  // has no row in the user database, and no group

// A folder "store" of mallory's with an index, beside a folder "others" with what is not mallory's.
class RightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_EQ(::chmod(room_.path().c_str(), 0755), 0);
    for (const std::string& folder : {store_, others_, store_ + "/sub"}) {
      ASSERT_TRUE(std::filesystem::create_directory(folder));
    }
    WriteFile(others_ + "/secret", "secret");
    ASSERT_EQ(::chmod((others_ + "/secret").c_str(), 0600), 0);
    WriteFile(others_ + "/public", "public");
    for (const char* name : {"/index", "/inside", "/sub/inside"}) WriteFile(store_ + name, "inside");
    for (const char* name : {"", "/index", "/inside", "/sub", "/sub/inside"}) Give(store_ + name, kMallory);
  }

  static void Give(const std::string& path, uid_t uid) { ASSERT_EQ(::lchown(path.c_str(), uid, uid), 0); }

  // What mallory's store reads by this locator, or why not.
  std::string Read(const std::string& locator, const std::vector<std::string>& foreign = {}) const {
    const UniqueFd folder(::open(store_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd index(::open((store_ + "/index").c_str(), O_RDONLY | O_CLOEXEC));
    const Result<ShardRights> rights = ShardRights::Make(folder.get(), store_, index.get(), "index", foreign);
    if (!rights.ok()) return rights.status().text();
    ShardInfo info{.foreign = true, .absolute = locator.starts_with('/'), .locator = locator, .path = locator};
    const Result<UniqueFd> fd = rights->Open(info);
    if (!fd.ok()) {
      EXPECT_EQ(fd.status().code(), Code::kCorrupt) << fd.status().text();  // EIO, whatever it is
      return fd.status().text();
    }
    std::string text(6, '\0');
    EXPECT_EQ(::pread(fd->get(), text.data(), text.size(), 0), 6);
    return text;
  }

  TempFolder room_;
  const std::string store_ = room_.path() + "/store";
  const std::string others_ = room_.path() + "/others";
};

TEST_F(RightsTest, WhatLiesInTheFolderIsRead) {
  EXPECT_EQ(Read("inside"), "inside");
  EXPECT_EQ(Read("sub/inside"), "inside");
  EXPECT_EQ(Read("./sub//inside"), "inside");
  ASSERT_EQ(::chmod((store_ + "/inside").c_str(), 0600), 0);
  EXPECT_EQ(Read("inside"), "inside");
  Give(store_ + "/inside", 0);  // copied there by root
  EXPECT_EQ(Read("inside"), "inside");
}

TEST_F(RightsTest, AStoreReadsWhatItsOwnerMay) {
  EXPECT_EQ(Read(others_ + "/public"), "public");
  EXPECT_EQ(Read("../others/public"), "public");
  ASSERT_EQ(::symlink("../others/public", (store_ + "/link").c_str()), 0);
  EXPECT_EQ(Read("link"), "public");
  ASSERT_EQ(::symlink(others_.c_str(), (store_ + "/folder").c_str()), 0);
  EXPECT_EQ(Read("folder/public"), "public");
}

TEST_F(RightsTest, AStoreReadsNothingElse) {
  EXPECT_THAT(Read(others_ + "/secret"), HasSubstr("user 4321"));
  EXPECT_THAT(Read("../others/secret"), HasSubstr("user 4321"));
  EXPECT_THAT(Read("sub/../../others/secret"), HasSubstr("user 4321"));
  ASSERT_EQ(::symlink("../others/secret", (store_ + "/link").c_str()), 0);
  EXPECT_THAT(Read("link"), HasSubstr("user 4321"));
  ASSERT_EQ(::symlink(others_.c_str(), (store_ + "/folder").c_str()), 0);
  EXPECT_THAT(Read("folder/secret"), HasSubstr("user 4321"));
  ASSERT_EQ(::link((others_ + "/secret").c_str(), (store_ + "/hard").c_str()), 0);
  EXPECT_THAT(Read("hard"), HasSubstr("user 4321"));
  ASSERT_EQ(::chmod(others_.c_str(), 0700), 0);
  EXPECT_THAT(Read("../others/public"), HasSubstr("user 4321"));
}

TEST_F(RightsTest, RootsOwnStoreReadsAnything) {
  for (const char* name : {"", "/index"}) Give(store_ + name, 0);
  EXPECT_EQ(Read(others_ + "/secret"), "secret");
  EXPECT_EQ(Read("../others/secret"), "secret");
}

// The index of a store in a mount, a backup or a log that root writes may show root as its owner: the folder is
// mallory's.
TEST_F(RightsTest, AnIndexOfRootInAFolderOfAnotherIsTheOthers) {
  Give(store_ + "/index", 0);
  EXPECT_THAT(Read(others_ + "/secret"), HasSubstr("user 4321"));
  ASSERT_EQ(::rename((store_ + "/index").c_str(), (others_ + "/index").c_str()), 0);
  ASSERT_EQ(::symlink("../others/index", (store_ + "/index").c_str()), 0);
  Give(store_ + "/index", kMallory);
  Give(store_, 0);
  EXPECT_THAT(Read(others_ + "/secret"), HasSubstr("user 4321"));
}

TEST_F(RightsTest, NamedFoldersAreReadWithOurRightsAndNothingElseIs) {
  EXPECT_EQ(Read(others_ + "/secret", {others_}), "secret");
  EXPECT_EQ(Read("../others/secret", {others_ + "/"}), "secret");
  EXPECT_EQ(Read("inside", {others_}), "inside");
  EXPECT_THAT(Read(others_ + "/public", {store_}), HasSubstr("foreign=DIR"));
  EXPECT_THAT(Read(others_ + "2", {others_}), HasSubstr("foreign=DIR"));
  EXPECT_THAT(Read(others_ + "/../others", {others_}), HasSubstr("foreign=DIR"));
  ASSERT_EQ(::symlink("/etc/passwd", (others_ + "/link").c_str()), 0);
  EXPECT_THAT(Read(others_ + "/link", {others_}), HasSubstr("symbolic link"));
  const std::string alias = room_.path() + "/alias";
  ASSERT_EQ(::symlink(others_.c_str(), alias.c_str()), 0);
  EXPECT_EQ(Read(alias + "/secret", {alias}), "secret");
  EXPECT_EQ(Read(others_ + "/secret", {alias}), "secret");
  EXPECT_THAT(Read("inside", {others_ + "/none"}), HasSubstr("No such file"));
}

// Numbers of no driver: an open would say "No such device".
TEST_F(RightsTest, DevicesPipesAndSocketsAreNeverOpened) {
  ASSERT_EQ(::mkfifo((store_ + "/fifo").c_str(), 0666), 0);
  ASSERT_EQ(::mknod((store_ + "/device").c_str(), S_IFCHR | 0666, ::makedev(4000, 1)), 0);
  ASSERT_EQ(::mknod((store_ + "/socket").c_str(), S_IFSOCK | 0666, 0), 0);
  for (const std::string& place : {std::string(), store_ + "/", std::string("../store/")}) {
    EXPECT_THAT(Read(place + "fifo"), HasSubstr("is a FIFO"));
    EXPECT_THAT(Read(place + "device"), HasSubstr("is a device"));
    EXPECT_THAT(Read(place + "socket"), HasSubstr("is a socket"));
    EXPECT_THAT(Read(place + "sub"), HasSubstr("is a folder"));
    EXPECT_THAT(Read(place + "none"), HasSubstr("is missing"));
  }
}

TEST_F(RightsTest, ALoopOfLinksEnds) {
  ASSERT_EQ(::symlink("loop", (store_ + "/loop").c_str()), 0);
  EXPECT_THAT(Read("loop"), HasSubstr("symbolic links"));
}

// What the walk without openat2 and without the rights of others finds: WalkTo.
class WalkTest : public RightsTest {
 protected:
  std::string Find(const std::string& path, const WalkRules& rules) const {
    const UniqueFd folder(::open(store_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Result<FoundFile> found = WalkTo(folder.get(), path, rules, path);
    return found.ok() ? found->name : found.status().text();
  }
};

TEST_F(WalkTest, RefusesLinksAndDotDot) {
  ASSERT_EQ(::symlink("inside", (store_ + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("sub", (store_ + "/folder").c_str()), 0);
  EXPECT_EQ(Find("sub/inside", {}), "inside");
  EXPECT_EQ(Find("./sub//inside", {}), "inside");
  for (const char* path : {"link", "folder/inside", "sub/../inside", "../store/inside"}) {
    EXPECT_THAT(Find(path, {}), HasSubstr("symbolic links")) << path;
    EXPECT_EQ(Find(path, {.leaves_folder = true}), "inside") << path;
  }
  EXPECT_THAT(Find("inside/inside", {}), HasSubstr("Not a directory"));
}

TEST_F(WalkTest, LooksAtModesForAnotherReader) {
  const FileUser mallory{.uid = kMallory, .gid = kMallory, .groups = {}};
  const WalkRules rules{.leaves_folder = true, .reader = &mallory};
  EXPECT_EQ(Find("../others/public", rules), "public");
  EXPECT_THAT(Find("../others/secret", rules), HasSubstr("Permission denied"));
  ASSERT_EQ(::chmod(others_.c_str(), 0700), 0);
  EXPECT_THAT(Find("../others/public", rules), HasSubstr("Permission denied"));
  EXPECT_THAT(Find(others_ + "/public", rules), HasSubstr("Permission denied"));
}

TEST(FileUserTest, TheFirstClassThatFitsDecides) {
  const FileUser user{.uid = 10, .gid = 20, .groups = {30}};
  EXPECT_TRUE(user.Has(4, 0400, 10, 1));
  EXPECT_FALSE(user.Has(4, 0044, 10, 20));
  EXPECT_TRUE(user.Has(4, 0040, 1, 20));
  EXPECT_TRUE(user.Has(1, 0010, 1, 30));
  EXPECT_FALSE(user.Has(4, 0004, 1, 30));
  EXPECT_TRUE(user.Has(4, 0004, 1, 1));
  EXPECT_FALSE(user.Has(4, 0440, 1, 1));
}

TEST_F(RightsTest, RunAsTakesTheRightsAndGivesThemBack) {
  const FileUser mallory{.uid = kMallory, .gid = kMallory, .groups = {}};
  int as_mallory = 0;
  ASSERT_TRUE(RunAs(mallory, [&] { as_mallory = ::open((others_ + "/secret").c_str(), O_RDONLY | O_CLOEXEC); }));
  EXPECT_EQ(as_mallory, -1);
  const UniqueFd as_root(::open((others_ + "/secret").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(as_root.valid());
}

}  // namespace
}  // namespace augur
