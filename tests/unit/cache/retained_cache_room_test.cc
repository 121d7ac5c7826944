// SPDX-License-Identifier: Apache-2.0
// Little room. Promise: a message that says what is used instead; never SIGBUS, never an end by the kernel.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/memory.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Place = RetainedCache::Place;
using Inserted = RetainedCache::Inserted;

// A tmpfs of a size on a folder of its own, unmounted with the test.
class SmallTmpfs {
 public:
  explicit SmallTmpfs(const char* options) {
    std::string name = std::filesystem::temp_directory_path().string() + "/augur_small_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
    mounted_ = ::mount("augur_test", path_.c_str(), "tmpfs", 0, options) == 0;
  }
  ~SmallTmpfs() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
    ::rmdir(path_.c_str());
  }
  SmallTmpfs(const SmallTmpfs&) = delete;
  SmallTmpfs& operator=(const SmallTmpfs&) = delete;
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }
  // Fills it but for so many bytes.
  void FillUpTo(uint64_t left) const {
    const auto space = std::filesystem::space(path_);
    const UniqueFd fd(::open((path_ + "/filler").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::posix_fallocate(fd.get(), 0, static_cast<off_t>(space.available - left)), 0);
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

RetainedCache::Options OptionsIn(const std::string& folder, uint64_t bytes_max) {
  RetainedCache::Options options;
  options.place = Place::kShm;
  options.folder = folder;
  options.identity = "store of the test";
  options.bytes_max = bytes_max;
  return options;
}

// Inserts until there is no more room. Returns the bytes in use; UINT64_MAX when something that is there is wrong.
uint64_t FillUp(RetainedCache& retained_cache) {
  uint64_t count = 0;
  while (retained_cache.Insert(TestKey(count), TestBlock(count)) != Inserted::kNoRoom) ++count;
  for (uint64_t id = 0; id < count; ++id) {
    if (FindRight(retained_cache, id) != 1) return UINT64_MAX;
  }
  return retained_cache.used_bytes();
}

#define NEEDS_MOUNT(small) \
  if (!(small).mounted()) GTEST_SKIP() << "needs root: a tmpfs"

TEST(RetainedCacheRoomTest, OfASmallTmpfsAQuarterIsLeftToOthers) {
  const SmallTmpfs small("size=64m");
  NEEDS_MOUNT(small);
  std::vector<std::string> notes;
  const auto retained_cache = RetainedCache::Open(OptionsIn(small.path(), kGiB), notes);
  ASSERT_TRUE(retained_cache.ok()) << retained_cache.status().text();
  EXPECT_EQ((*retained_cache)->place(), Place::kShm);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].find("the cache may take 48.0 MiB instead of 1.0 GiB: " + small.path() + " has no more room"), 0U)
      << notes[0];
  EXPECT_GT(FillUp(**retained_cache), 44 * kMiB);
  EXPECT_LE((*retained_cache)->held_bytes(), 48 * kMiB);
  EXPECT_GE(std::filesystem::space(small.path()).available, 16 * kMiB);
}

TEST(RetainedCacheRoomTest, AFullTmpfsLeavesMemoryOfTheProcess) {
  const SmallTmpfs small("size=64m");
  NEEDS_MOUNT(small);
  for (const uint64_t left : {uint64_t{0}, 4 * kKiB, kMiB, 17 * kMiB}) {
    SCOPED_TRACE(left);
    small.FillUpTo(left);
    std::vector<std::string> notes;
    const auto retained_cache = RetainedCache::Open(OptionsIn(small.path(), 16 * kMiB), notes);
    ASSERT_TRUE(retained_cache.ok()) << retained_cache.status().text();
    EXPECT_EQ((*retained_cache)->place(), Place::kRam);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].find("the cache is in memory of this process"), 0U) << notes[0];
    EXPECT_GT(FillUp(**retained_cache), 13 * kMiB);
    std::filesystem::remove(small.path() + "/filler");
    EXPECT_TRUE(std::filesystem::is_empty(small.path())) << "a file was left";
  }
}

TEST(RetainedCacheRoomTest, WhatOthersTakeMeanwhileIsRespected) {
  const SmallTmpfs small("size=64m");
  NEEDS_MOUNT(small);
  std::vector<std::string> notes;
  const auto retained_cache = RetainedCache::Open(OptionsIn(small.path(), 40 * kMiB), notes);
  ASSERT_TRUE(retained_cache.ok());
  EXPECT_TRUE(notes.empty());
  ASSERT_EQ((*retained_cache)->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  small.FillUpTo(0);
  EXPECT_LE(FillUp(**retained_cache), 4 * kMiB);
  EXPECT_EQ(FindRight(**retained_cache, 1), 1);
  std::filesystem::remove(small.path() + "/filler");
  EXPECT_GT(FillUp(**retained_cache), 10 * kMiB);
}

// A file of holes that says it is whole, on a file system that cannot fill them: slabs that cannot be had are dropped.
TEST(RetainedCacheRoomTest, HolesThatCannotBeFilledAreNotTouched) {
  const SmallTmpfs small("size=64m");
  NEEDS_MOUNT(small);
  std::vector<std::string> notes;
  const RetainedCache::Options options = OptionsIn(small.path(), 20 * kMiB);
  std::string path;
  {
    const auto retained_cache = RetainedCache::Open(options, notes);
    ASSERT_TRUE(retained_cache.ok());
    EXPECT_GT(FillUp(**retained_cache), 15 * kMiB);
    path = (*retained_cache)->path();
  }
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto end = static_cast<off_t>(std::filesystem::file_size(path));
  ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end - (62 << 20), 4 << 20), 0);
  // The same number of bytes elsewhere in the file.
  ASSERT_EQ(::posix_fallocate(fd.get(), end - (6 << 20), 4 << 20), 0);
  small.FillUpTo(0);
  const auto retained_cache = RetainedCache::Open(options, notes);
  ASSERT_TRUE(retained_cache.ok());
  for (uint64_t id = 0; id < 2000; ++id) EXPECT_GE(FindRight(**retained_cache, id), 0);
}

TEST(RetainedCacheRoomTest, LittleMemoryIsSaidAndLeft) {
  for (const Place place : {Place::kRam, Place::kShm}) {
    const RetainedCacheFolder folder;
    RetainedCache::Options options = folder.options(kGiB);
    options.place = place;
    uint64_t available = 100 * kMiB;
    options.memory_available = [&] { return available; };
    std::vector<std::string> notes;
    const auto retained_cache = RetainedCache::Open(options, notes);
    ASSERT_TRUE(retained_cache.ok());
    ASSERT_EQ(notes.size(), 1U);
    // 16 MiB are left, as an eighth is less.
    EXPECT_EQ(notes[0].find("the cache may take 84.0 MiB instead of 1.0 GiB: this machine, or the memory cgroup"), 0U)
        << notes[0];
    available = 17 * kMiB;
    EXPECT_EQ(FillUp(**retained_cache), 0U);
    available = 100 * kMiB;
    const uint64_t used = FillUp(**retained_cache);
    EXPECT_GT(used, 80 * kMiB);
    available = 10 * kMiB;
    notes.clear();
    options.identity = "another";
    EXPECT_EQ(RetainedCache::Open(options, notes).status().code(), Code::kNoSpace);
    // What is there already can be used.
    if (place != Place::kShm) continue;
    options.identity = folder.options(0).identity;
    const auto again = RetainedCache::Open(options, notes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->used_bytes(), used);
  }
}

// A memory cgroup of its own, removed with the test; version 1 or 2, whichever the machine has.
class LimitedCgroup {
 public:
  explicit LimitedCgroup(uint64_t limit) {
    const std::string name = "/augur_retained_cache_test_" + std::to_string(::getpid());
    for (const bool v2 : {false, true}) {
      path_ = (v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") + name;
      std::error_code error;
      if (!std::filesystem::create_directory(path_, error)) continue;
      const std::string file = v2 ? "/memory.max" : "/memory.limit_in_bytes";
      if (std::filesystem::exists(path_ + file) && Write(file, std::to_string(limit))) {
        events_ = path_ + (v2 ? "/memory.events" : "/memory.oom_control");
        return;
      }
      ::rmdir(path_.c_str());
    }
    path_.clear();
  }
  ~LimitedCgroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;
  bool made() const { return !path_.empty(); }
  bool Join() const { return Write("/cgroup.procs", std::to_string(::getpid())); }
  // Processes that the kernel ended.
  int kills() const {
    std::ifstream in(events_);
    std::string name;
    int count = 0;
    while (in >> name >> count) {
      if (name == "oom_kill") return count;
    }
    return -1;
  }

 private:
  bool Write(const std::string& file, const std::string& text) const {
    std::ofstream out(path_ + file);
    out << text;
    out.close();
    return !out.fail();
  }
  std::string path_;
  std::string events_;
};

class RetainedCacheCgroupTest : public testing::TestWithParam<Place> {};
INSTANTIATE_TEST_SUITE_P(Places, RetainedCacheCgroupTest, testing::Values(Place::kRam, Place::kShm),
                         [](const auto& place) { return place.param == Place::kRam ? "Ram" : "Shm"; });

TEST_P(RetainedCacheCgroupTest, ALimitBelowTheWishEndsNoProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory meets the limit";
#endif
  const RetainedCacheFolder folder;
  const LimitedCgroup cgroup(96 * kMiB);
  if (!cgroup.made()) GTEST_SKIP() << "needs root and a memory cgroup that can be made";
  ChildProcess child([&] {
    if (!cgroup.Join()) return 1;
    RetainedCache::Options options = folder.options(kGiB);
    options.place = GetParam();
    std::vector<std::string> notes;
    const auto retained_cache = RetainedCache::Open(options, notes);
    if (!retained_cache.ok() || (*retained_cache)->place() != GetParam()) return 2;
    if (notes.size() != 1 || notes[0].find("instead of 1.0 GiB") == std::string::npos) return 3;
    const uint64_t used = FillUp(**retained_cache);
    if (used == UINT64_MAX) return 4;
    if (used < 40 * kMiB || used > 90 * kMiB) return 5;
    // Then somebody else in the cgroup needs what is left, but for a little.
    const auto room = MachineMemory();
    if (!room.ok() || room->available_bytes < 8 * kMiB) return 6;
    const std::vector<char> needed(room->available_bytes - 8 * kMiB, 1);
    (*retained_cache)->Clear();
    const std::vector<char> more(16 * kMiB, 1);
    if (FillUp(**retained_cache) == UINT64_MAX) return 7;
    return needed.back() + more.back() == 2 ? 0 : 8;
  });
  EXPECT_EQ(child.Wait(), 0);
  EXPECT_EQ(cgroup.kills(), 0);
}

}  // namespace
}  // namespace augur
