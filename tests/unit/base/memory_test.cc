// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace augur {
namespace {

using Cgroups = std::vector<MemoryCgroup>;

std::string Read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(FindMemoryCgroups, Version2WithItsAncestors) {
  EXPECT_EQ(FindMemoryCgroups("0::/user.slice/user-1000.slice/run.scope\n",
                              "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"),
            (Cgroups{{"/sys/fs/cgroup/user.slice/user-1000.slice/run.scope", true},
                     {"/sys/fs/cgroup/user.slice/user-1000.slice", true},
                     {"/sys/fs/cgroup/user.slice", true},
                     {"/sys/fs/cgroup", true}}));
}

TEST(FindMemoryCgroups, Version1TakesTheMemoryControllerOnly) {
  EXPECT_EQ(FindMemoryCgroups("9:cpuset:/x\n4:memory,hugetlb:/job/7\n0::/\n",
                              "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                              "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory,hugetlb\n"),
            (Cgroups{{"/sys/fs/cgroup/memory/job/7", false},
                     {"/sys/fs/cgroup/memory/job", false},
                     {"/sys/fs/cgroup/memory", false}}));
}

TEST(FindMemoryCgroups, AContainerThatSharesTheHostsCgroupNamespace) {
  // Docker on version 1: the mount begins at the container's cgroup, the path at the host's root.
  EXPECT_EQ(FindMemoryCgroups("4:memory:/docker/abc/worker\n",
                              "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"),
            (Cgroups{{"/sys/fs/cgroup/memory/worker", false}, {"/sys/fs/cgroup/memory", false}}));
  // Another container's mount with a name that begins alike.
  EXPECT_EQ(FindMemoryCgroups("4:memory:/docker/abcdef\n",
                              "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"),
            (Cgroups{{"/sys/fs/cgroup/memory", false}}));
}

TEST(FindMemoryCgroups, ACgroupNamespace) {
  EXPECT_EQ(FindMemoryCgroups("0::/\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
            (Cgroups{{"/sys/fs/cgroup", true}}));
  // A process outside of the namespace's root is shown with "..".
  EXPECT_EQ(FindMemoryCgroups("0::/../other\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
            (Cgroups{{"/sys/fs/cgroup", true}}));
  EXPECT_EQ(FindMemoryCgroups("0::/\n", "30 23 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
            (Cgroups{{"/sys/fs/cgroup", true}}));
}

TEST(FindMemoryCgroups, APathWithABlank) {
  EXPECT_EQ(FindMemoryCgroups("0::/a b\n", "30 23 0:26 / /my\\040root/c\\134g rw - cgroup2 cgroup rw\n"),
            (Cgroups{{"/my root/c\\g/a b", true}, {"/my root/c\\g", true}}));
}

TEST(FindMemoryCgroups, NothingInViewOrNonsense) {
  EXPECT_TRUE(FindMemoryCgroups("0::/a\n", "").empty());  // a chroot without /sys
  EXPECT_TRUE(FindMemoryCgroups("", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n").empty());
  EXPECT_TRUE(FindMemoryCgroups("x\n:\n::\n", "- - -\n30 23 0:26 / /x rw -\n\n").empty());
}

TEST(FindKilobytes, FindsTheWholeName) {
  const std::string text = "MemTotalX:  5 kB\nMemTotal:       24684084 kB\nHugePages_Total:       7\n";
  EXPECT_EQ(FindKilobytes(text, "MemTotal"), 24684084ull * 1024);
  EXPECT_EQ(FindKilobytes(text, "Mem"), std::nullopt);
  EXPECT_EQ(FindKilobytes(text, "HugePages_Total"), std::nullopt);  // not kB
  EXPECT_EQ(FindKilobytes("MemTotal:", "MemTotal"), std::nullopt);
}

TEST(ParseProcessStatus, TellsTheThreeKindsApart) {
  const auto use = ParseProcessStatus(
      "Name:\tx\nVmRSS:\t    7000 kB\nRssAnon:\t    1000 kB\nRssFile:\t    2000 kB\nRssShmem:\t    4000 kB\n");
  ASSERT_TRUE(use.ok());
  EXPECT_EQ(use->anonymous_bytes, 1000u * 1024);
  EXPECT_EQ(use->file_bytes, 2000u * 1024);
  EXPECT_EQ(use->shared_bytes, 4000u * 1024);
  const auto old = ParseProcessStatus("Name:\tx\nVmRSS:\t    7000 kB\n");
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.status().code(), Code::kIo);
}

// Memory that the kernel has filled with pages. Not by mmap(3) and memset: under a sanitizer these take several times
// as much for its own books.
class Pages {
 public:
  Pages(size_t bytes, bool shared)
      : bytes_(bytes),
        address_(::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                           (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {}
  ~Pages() {
    if (made()) ::syscall(SYS_munmap, address_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  bool made() const { return address_ != -1; }

 private:
  const size_t bytes_;
  const long address_;
};

// Memory that is touched shows, in its kind.
TEST(ProcessMemory, SeesWhatIsTouched) {
  constexpr size_t kBytes = 64 << 20;
  for (const bool shared : {false, true}) {
    const auto before = ProcessMemory();
    ASSERT_TRUE(before.ok()) << before.status().text();
    const Pages pages(kBytes, shared);
    ASSERT_TRUE(pages.made());
    const auto after = ProcessMemory();
    ASSERT_TRUE(after.ok());
    const uint64_t grown =
        shared ? after->shared_bytes - before->shared_bytes : after->anonymous_bytes - before->anonymous_bytes;
    EXPECT_NEAR(static_cast<double>(grown), kBytes, 8 << 20) << shared;
  }
}

// Cgroups made of plain files.
class MemoryRoomTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(top_.data()), nullptr);
    ASSERT_EQ(::mkdir((top_ + "/child").c_str(), 0700), 0);
  }
  void TearDown() override {
    for (const std::string& path : files_) ::unlink(path.c_str());
    ::rmdir((top_ + "/child").c_str());
    ::rmdir(top_.c_str());
  }
  void Write(const std::string& name, const std::string& text) {
    files_.push_back(top_ + "/" + name);
    std::ofstream(files_.back()) << text;
  }
  MemoryRoom Room(bool v2) {
    const auto room = MemoryRoomIn("MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: 800000 kB\n",
                                   {{top_ + "/child", v2}, {top_, v2}});
    EXPECT_TRUE(room.ok());
    return room.ok() ? *room : MemoryRoom{};
  }

  std::string top_ = testing::TempDir() + "/augur_memory_XXXXXX";
  std::vector<std::string> files_;
};

TEST_F(MemoryRoomTest, WithoutLimitsItIsTheMachine) {
  Write("child/memory.max", "max\n");
  const MemoryRoom room = Room(true);
  EXPECT_EQ(room.total_bytes, 1000000ull * 1024);
  EXPECT_EQ(room.available_bytes, 800000ull * 1024);
  EXPECT_EQ(room.source, "the machine");
}

TEST_F(MemoryRoomTest, TheLeastOfTheAncestorsCounts) {
  Write("child/memory.max", "max\n");
  Write("memory.max", "500000000\n");
  Write("memory.current", "400000000\n");
  Write("memory.stat", "anon 1\nworkingset_inactive_file 5\ninactive_file 150000000\nactive_file 7\n");
  const MemoryRoom room = Room(true);
  EXPECT_EQ(room.total_bytes, 500000000u);
  EXPECT_EQ(room.available_bytes, 250000000u);  // 500 - (400 - 150)
  EXPECT_EQ(room.source, "memory cgroup " + top_);
}

TEST_F(MemoryRoomTest, Version1) {
  Write("child/memory.limit_in_bytes", "300000000\n");
  Write("child/memory.usage_in_bytes", "310000000\n");  // over it, for a moment
  Write("child/memory.stat", "inactive_file 9\ntotal_inactive_file 10000000\n");
  Write("memory.limit_in_bytes", "9223372036854771712\n");  // how version 1 writes "no limit"
  Write("memory.usage_in_bytes", "310000000\n");
  const MemoryRoom room = Room(false);
  EXPECT_EQ(room.total_bytes, 300000000u);
  EXPECT_EQ(room.available_bytes, 0u);
}

TEST(MemoryRoom, NeedsProc) {
  const auto room = MemoryRoomIn("", {});
  ASSERT_FALSE(room.ok());
  EXPECT_EQ(room.status().code(), Code::kIo);
}

TEST(MachineMemory, IsWithinThePhysicalMemory) {
  const auto room = MachineMemory();
  ASSERT_TRUE(room.ok()) << room.status().text();
  const uint64_t physical =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_LE(room->total_bytes, physical);
  EXPECT_GT(room->total_bytes, 0u);
  EXPECT_LE(room->available_bytes, room->total_bytes);
}

// A memory cgroup of version 1 below our own, removed at the end.
class RealCgroup {
 public:
  RealCgroup() {
    for (const MemoryCgroup& cgroup : FindMemoryCgroups(Read("/proc/self/cgroup"), Read("/proc/self/mountinfo"))) {
      if (cgroup.v2) continue;
      path_ = cgroup.path + "/augur_test_" + std::to_string(::getpid());
      made_ = ::mkdir(path_.c_str(), 0755) == 0;
      why_ = made_ ? "" : path_ + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
      return;
    }
    why_ = "no memory cgroup of version 1 is mounted here";
  }
  ~RealCgroup() {
    if (made_) ::rmdir(path_.c_str());
  }
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;

  bool made() const { return made_; }
  const std::string& why() const { return why_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string why_;
  bool made_ = false;
};

TEST(MachineMemory, FollowsARealCgroup) {
  const RealCgroup cgroup;
  if (!cgroup.made()) GTEST_SKIP() << cgroup.why();
  constexpr uint64_t kLimit = 256 << 20;
  std::ofstream(cgroup.path() + "/memory.limit_in_bytes") << kLimit << std::flush;
  // The child is inside before it looks; its exit status is the number of the first check that failed.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ofstream(cgroup.path() + "/cgroup.procs") << ::getpid() << std::flush;
    const auto room = MachineMemory();
    if (!room.ok()) ::_exit(1);
    if (room->total_bytes != kLimit) ::_exit(2);
    if (room->source != "memory cgroup " + cgroup.path()) ::_exit(3);
    if (room->available_bytes > kLimit) ::_exit(4);
    // 100 MiB in use are no longer available.
    constexpr size_t kUsed = 100 << 20;
    const Pages pages(kUsed, false);
    const auto less = MachineMemory();
    if (!pages.made() || !less.ok() || less->available_bytes > kLimit - kUsed) ::_exit(5);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace augur
