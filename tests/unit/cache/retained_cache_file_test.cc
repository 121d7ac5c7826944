// SPDX-License-Identifier: Apache-2.0
// Whose the file is, and when it is debris.
#include "cache/retained_cache_file.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/units.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Place = RetainedCache::Place;
using Inserted = RetainedCache::Inserted;

class RetainedCacheFileTest : public testing::Test {
 protected:
  std::string PathOfFile() const {
    return RetainedCachePath(folder_.path(), folder_.options(0).identity, std::nullopt);
  }
  void Make(mode_t mode) {
    const UniqueFd fd(::open(PathOfFile().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    ASSERT_TRUE(fd.valid());
    ASSERT_EQ(::fchmod(fd.get(), mode), 0);
  }
  // A further descriptor of the file that a daemon of this process has open.
  UniqueFd CopyOfItsFile() const {
    for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(open.path(), gone) != PathOfFile()) continue;
      return UniqueFd(::fcntl(std::stoi(open.path().filename()), F_DUPFD_CLOEXEC, 0));
    }
    return {};
  }
  // It is not used, not changed, and why is said.
  void ExpectRefused(const std::string& cause) {
    struct stat before {};
    struct stat after {};
    ASSERT_EQ(::lstat(PathOfFile().c_str(), &before), 0);
    std::vector<std::string> notes;
    const auto retained_cache = RetainedCache::Open(folder_.options(8 * kMiB), notes);
    ASSERT_TRUE(retained_cache.ok());
    EXPECT_EQ((*retained_cache)->place(), Place::kRam);
    EXPECT_EQ((*retained_cache)->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find(cause), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find(PathOfFile()), std::string::npos) << notes[0];
    ASSERT_EQ(::lstat(PathOfFile().c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_EQ(after.st_size, before.st_size);
  }

  RetainedCacheFolder folder_;
};

TEST_F(RetainedCacheFileTest, IsForItsUserAlone) {
  const auto retained_cache = folder_.Open(8 * kMiB);
  struct stat info {};
  ASSERT_EQ(::stat(retained_cache->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
  EXPECT_EQ(retained_cache->path().find(folder_.path() + "/augurfs-" + std::to_string(::geteuid()) + "-"), 0U);
}

TEST_F(RetainedCacheFileTest, TheLastDaemonRemovesIt) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.outlives = false;
  std::vector<std::string> notes;
  {
    auto first = *RetainedCache::Open(options, notes);
    const auto second = *RetainedCache::Open(options, notes);
    EXPECT_EQ(first->attached(), 2U);
    ASSERT_EQ(first->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
    first.reset();
    EXPECT_TRUE(std::filesystem::exists(PathOfFile()));
    EXPECT_EQ(FindRight(*second, 1), 1);
  }
  EXPECT_TRUE(folder_.files().empty());
  const auto next = *RetainedCache::Open(options, notes);
  EXPECT_EQ(next->block_count(), 0U);
  EXPECT_TRUE(notes.empty());
}

// Each has said that it leaves before the kernel has closed the file of the other.
TEST_F(RetainedCacheFileTest, OfTwoDaemonsThatEndTogetherTheSecondRemovesIt) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.outlives = false;
  std::vector<std::string> notes;
  auto first = *RetainedCache::Open(options, notes);
  const UniqueFd not_closed = CopyOfItsFile();
  ASSERT_TRUE(not_closed.valid());
  auto second = *RetainedCache::Open(options, notes);
  first.reset();
  EXPECT_EQ(second->attached(), 1U);
  EXPECT_EQ(folder_.files().size(), 1U);
  second.reset();
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(RetainedCacheFileTest, OneThatAsksKeepsIt) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  std::vector<std::string> notes;
  const auto open = [&](bool outlives) {
    options.outlives = outlives;
    return *RetainedCache::Open(options, notes);
  };
  {
    auto asks = open(true);
    const auto other = open(false);
    asks.reset();
  }
  EXPECT_EQ(folder_.files().size(), 1U);
  {
    auto other = open(false);  // alone: it says anew that nothing is kept
    auto asks = open(true);
    asks.reset();
    other.reset();
    EXPECT_EQ(folder_.files().size(), 1U);
  }
  open(false).reset();
  EXPECT_TRUE(folder_.files().empty());
}

// Somebody has replaced it: the file of that name is another's.
TEST_F(RetainedCacheFileTest, AFileThatCameInItsPlaceIsNotRemoved) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.outlives = false;
  std::vector<std::string> notes;
  auto retained_cache = *RetainedCache::Open(options, notes);
  ASSERT_EQ(::unlink(PathOfFile().c_str()), 0);
  Make(0600);
  retained_cache.reset();
  EXPECT_TRUE(std::filesystem::exists(PathOfFile()));
}

TEST_F(RetainedCacheFileTest, WhatItTakesIsItsBlocks) {
  const auto retained_cache = folder_.Open(64 * kMiB);
  for (uint64_t id = 0; id < 200; ++id) ASSERT_EQ(retained_cache->Insert(TestKey(id), TestBlock(id)), Inserted::kYes);
  struct stat info {};
  ASSERT_EQ(::stat(PathOfFile().c_str(), &info), 0);
  EXPECT_EQ(retained_cache->taken_bytes(), static_cast<uint64_t>(info.st_blocks) * 512);
  EXPECT_GE(retained_cache->taken_bytes(), retained_cache->used_bytes());
  EXPECT_LT(retained_cache->taken_bytes(), static_cast<uint64_t>(info.st_size));
}

TEST_F(RetainedCacheFileTest, ASymbolicLinkIsRefused) {
  const std::string target = folder_.path() + "/target";
  ASSERT_EQ(::symlink(target.c_str(), PathOfFile().c_str()), 0);
  ExpectRefused("is a symbolic link");
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(RetainedCacheFileTest, AFileOpenToOthersIsRefused) {
  Make(0644);
  ExpectRefused("is open to others");
}

TEST_F(RetainedCacheFileTest, AFileWithASecondNameIsRefused) {
  Make(0600);
  ASSERT_EQ(::link(PathOfFile().c_str(), (folder_.path() + "/second").c_str()), 0);
  ExpectRefused("has a second name");
}

TEST_F(RetainedCacheFileTest, APipeIsRefused) {
  ASSERT_EQ(::mkfifo(PathOfFile().c_str(), 0600), 0);
  ExpectRefused("is not a regular file");
}

TEST_F(RetainedCacheFileTest, AnotherUsersFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: another user";
  Make(0600);
  ASSERT_EQ(::chown(PathOfFile().c_str(), 65534, 65534), 0);
  ExpectRefused("belongs to another user");
}

TEST_F(RetainedCacheFileTest, AMissingFolderLeavesMemoryOfTheProcess) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.folder += "/missing";
  std::vector<std::string> notes;
  const auto retained_cache = RetainedCache::Open(options, notes);
  ASSERT_TRUE(retained_cache.ok());
  EXPECT_EQ((*retained_cache)->place(), Place::kRam);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("No such file or directory"), std::string::npos) << notes[0];
}

TEST_F(RetainedCacheFileTest, NamesThatAreTooLongAreRefused) {
  std::vector<std::string> notes;
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.identity = std::string(2049, 'x');
  EXPECT_EQ(RetainedCache::Open(options, notes).status().code(), Code::kInvalid);
  options.identity.clear();
  EXPECT_EQ(RetainedCache::Open(options, notes).status().code(), Code::kInvalid);
  options.identity = "x";
  options.store_path = std::string(1025, 'x');
  EXPECT_EQ(RetainedCache::Open(options, notes).status().code(), Code::kInvalid);
}

// Users of a group share when they are told to, in a folder like /dev/shm.
TEST_F(RetainedCacheFileTest, AGroupSharesWhenToldTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: other users";
  constexpr gid_t kGroup = 54321;
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  const auto as_user = [&](uid_t user, gid_t group, const std::function<int(RetainedCache&)>& body) {
    return ChildProcess([&] {
             if (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0) return 1;
             RetainedCache::Options options = folder_.options(8 * kMiB);
             options.group = kGroup;
             std::vector<std::string> notes;
             const auto retained_cache = RetainedCache::Open(options, notes);
             if (!retained_cache.ok()) return 2;
             return (*retained_cache)->place() == Place::kShm ? body(**retained_cache) : 3;
           })
        .Wait();
  };
  EXPECT_EQ(as_user(10'001, kGroup,
                    [](RetainedCache& one) { return one.Insert(TestKey(1), TestBlock(1)) == Inserted::kYes ? 0 : 4; }),
            0);
  EXPECT_EQ(as_user(10'002, kGroup, [](RetainedCache& two) { return FindRight(two, 1) == 1 ? 0 : 4; }), 0);
  EXPECT_EQ(as_user(10'003, 54322, [](RetainedCache&) { return 0; }), 3);
  EXPECT_EQ(folder_.files().size(), 1U);
}

TEST_F(RetainedCacheFileTest, DebrisIsRemovedWhenTheStoreIsGoneAndNobodyIsAttached) {
  const std::string store = folder_.options(0).store_path;
  ASSERT_EQ(::mkdir(store.c_str(), 0700), 0);
  auto retained_cache = folder_.Open(8 * kMiB);
  const std::string path = retained_cache->path();
  EXPECT_TRUE(RetainedCache::SweepDebris(folder_.path()).empty());
  ASSERT_EQ(::rmdir(store.c_str()), 0);
  EXPECT_TRUE(RetainedCache::SweepDebris(folder_.path()).empty()) << "somebody is attached";
  ASSERT_EQ(::mkdir(store.c_str(), 0700), 0);
  retained_cache.reset();
  EXPECT_TRUE(RetainedCache::SweepDebris(folder_.path()).empty()) << "the store is there";
  ASSERT_EQ(::rmdir(store.c_str()), 0);
  EXPECT_EQ(RetainedCache::SweepDebris(folder_.path()), std::vector<std::string>{path});
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(RetainedCacheFileTest, OnlyOursIsDebris) {
  RetainedCache::Options options = folder_.options(8 * kMiB);
  options.store_path.clear();
  std::vector<std::string> notes;
  ASSERT_TRUE(RetainedCache::Open(options, notes).ok());
  // Not of this program, and links and other users' are not followed.
  ASSERT_EQ(::mkdir((folder_.path() + "/augurfs-folder").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("/nowhere", (folder_.path() + "/augurfs-0-link").c_str()), 0);
  const UniqueFd other(::open((folder_.path() + "/something").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_TRUE(RetainedCache::SweepDebris(folder_.path()).empty());
  EXPECT_EQ(folder_.files().size(), 4U);
}

// What a daemon left that died while it made the file, and a file of the last boot.
TEST_F(RetainedCacheFileTest, WhatNobodyCanUseIsDebris) {
  Make(0600);
  EXPECT_EQ(RetainedCache::SweepDebris(folder_.path()).size(), 1U);
  const std::string store = folder_.options(0).store_path;
  ASSERT_EQ(::mkdir(store.c_str(), 0700), 0);
  const std::string path = folder_.Open(8 * kMiB)->path();
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::pwrite(fd.get(), "0", 1, offsetof(RetainedCacheHeader, boot_id) + 35), 1);
  ASSERT_EQ(::pwrite(fd.get(), "g", 1, offsetof(RetainedCacheHeader, boot_id)), 1);
  EXPECT_EQ(RetainedCache::SweepDebris(folder_.path()).size(), 1U);
}

// A container's store cannot be looked up from here: it counts as gone after a day.
TEST_F(RetainedCacheFileTest, AnotherMountNamespaceHasADay) {
  const std::string path = folder_.Open(8 * kMiB)->path();
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const uint64_t other = MountNamespace() + 1;
  ASSERT_EQ(::pwrite(fd.get(), &other, 8, offsetof(RetainedCacheHeader, mount_namespace)), 8);
  EXPECT_TRUE(RetainedCache::SweepDebris(folder_.path()).empty());
  timespec times[2] = {};
  times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - 25L * 3600;
  ASSERT_EQ(::futimens(fd.get(), times), 0);
  EXPECT_EQ(RetainedCache::SweepDebris(folder_.path()).size(), 1U);
}

// Promise: a file that is removed while daemons use it is theirs until they end; who comes then makes a new one.
TEST_F(RetainedCacheFileTest, AFileThatIsRemovedUnderADaemon) {
  const auto one = folder_.Open(8 * kMiB);
  ASSERT_EQ(one->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  ASSERT_EQ(::unlink(one->path().c_str()), 0);
  const auto two = folder_.Open(8 * kMiB);
  EXPECT_EQ(FindRight(*two, 1), 0);
  EXPECT_EQ(two->attached(), 1U);
  EXPECT_EQ(FindRight(*one, 1), 1);
  EXPECT_TRUE(RandomSteps(*one, 1, 200, 500));
  EXPECT_TRUE(RandomSteps(*two, 2, 200, 500));
}

}  // namespace
}  // namespace augur
