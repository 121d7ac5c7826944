// SPDX-License-Identifier: Apache-2.0
#include "cache/shared_folder.h"

#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

class RootFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it mounts";
    path_ = folder_.path() + "/root";
  }
  void TearDown() override {
    while (::umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
  }

  RetainedCacheFolder folder_;
  std::string path_;
};

TEST_F(RootFolderTest, IsATmpfsForRootAlone) {
  const Status prepared = PrepareRootFolder(path_);
  if (!prepared.ok()) GTEST_SKIP() << prepared.text();  // a container that may not mount
  struct stat info {};
  struct statfs file_system {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  EXPECT_EQ(info.st_uid, 0U);
  ASSERT_EQ(::statfs(path_.c_str(), &file_system), 0);
  EXPECT_EQ(file_system.f_type, TMPFS_MAGIC);
  // What is there stays: nothing is mounted over it.
  std::ofstream(path_ + "/file") << "kept";
  ASSERT_TRUE(PrepareRootFolder(path_).ok());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/file"));
}

TEST_F(RootFolderTest, WhatIsNotRootsAloneIsNotUsed) {
  ASSERT_EQ(::mkdir(path_.c_str(), 0755), 0);
  EXPECT_EQ(PrepareRootFolder(path_).code(), Code::kPermission) << "others can look into it";
  ASSERT_EQ(::chmod(path_.c_str(), 0700), 0);
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(PrepareRootFolder(path_).code(), Code::kPermission) << "another user's";
  ASSERT_EQ(::rmdir(path_.c_str()), 0);
  ASSERT_EQ(::symlink("/tmp", path_.c_str()), 0);
  EXPECT_FALSE(PrepareRootFolder(path_).ok()) << "a link";
}

TEST(SharedMemoryFolderTest, AGroupSharesWhereItsMembersCanLook) {
  EXPECT_EQ(SharedMemoryFolder(gid_t{5}).value(), kSharedMemory);
}

}  // namespace
}  // namespace augur
