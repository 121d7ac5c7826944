// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/machine_survey.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "diagnosis/processor_use.h"

namespace augur {
namespace {

// A root folder with some of the files of a machine.
class MachineSurvey : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> name{"/tmp/augur-survey-XXXXXX"};
    const char* made = ::mkdtemp(name.data());
    ASSERT_NE(made, nullptr);
    root_ = made;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(MachineSurvey, ReadsTheSettings) {
  const MachineFacts none = SurveyMachine(root_);
  EXPECT_EQ(none.fuse_device, MachineFacts::FuseDevice::kMissing);
  EXPECT_EQ(none.enable_uring, MachineFacts::Switch::kAbsent);
  EXPECT_EQ(none.fusermount, "");
  EXPECT_FALSE(none.user_allow_other);
  EXPECT_GE(none.kernel_major, 3u);
  EXPECT_FALSE(none.kernel_release.empty());
  EXPECT_GT(none.memory_bytes, 0u);
  EXPECT_GE(none.cores, 1u);

  Write("/dev/fuse", "");
  Write("/usr/bin/fusermount3", "");
  std::filesystem::permissions(root_ + "/usr/bin/fusermount3", std::filesystem::perms::all);
  Write("/etc/fuse.conf", "# mount_max = 1000\n  user_allow_other \n");
  Write("/sys/module/fuse/parameters/enable_uring", "N\n");
  Write("/sys/class/bdi/0:54/read_ahead_kb", "1024\n");
  const MachineFacts some = SurveyMachine(root_);
  EXPECT_EQ(some.fuse_device, MachineFacts::FuseDevice::kUsable);
  EXPECT_EQ(some.enable_uring, MachineFacts::Switch::kOff);
  EXPECT_EQ(some.fusermount, "/usr/bin/fusermount3");
  EXPECT_TRUE(some.user_allow_other);
  EXPECT_EQ(ReadAheadOf("0:54", root_), 1u << 20);
  EXPECT_EQ(ReadAheadOf("0:55", root_), 0u);

  Write("/etc/fuse.conf", "#user_allow_other\n");
  EXPECT_FALSE(SurveyMachine(root_).user_allow_other);
}

std::string StatLine(uint32_t pid, uint32_t parent, uint64_t user, uint64_t system) {
  return std::to_string(pid) + " (py (x) y) S " + std::to_string(parent) + " 1 1 0 -1 4194304 9 9 9 9 " +
         std::to_string(user) + " " + std::to_string(system) + " 0 0 20 0 1 0 100\n";
}

TEST_F(MachineSurvey, AddsUpTheProcessorTimeOfTheScriptAndItsWorkers) {
  const auto tick_us = 1'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  Write("/stat", "cpu  10 1 5 100 20 2 2 0 3 0\ncpu0 9 9 9 9\n");
  Write("/7/stat", StatLine(7, 1, 30, 3));    // the daemon
  Write("/20/stat", StatLine(20, 1, 50, 5));  // the script
  Write("/21/stat", StatLine(21, 20, 60, 6));
  Write("/22/stat", StatLine(22, 21, 70, 7));  // of a worker
  Write("/30/stat", StatLine(30, 1, 99, 9));   // another program
  Write("/self/stat", StatLine(30, 20, 99, 9));
  Write("/40/stat", "40 (no more");
  const ProcessorUse use = ReadProcessorUse(7, {20, 77}, root_);
  EXPECT_EQ(use.machine_all_us, 140 * tick_us);
  EXPECT_EQ(use.machine_busy_us, 20 * tick_us);
  EXPECT_EQ(use.daemon_us, 33 * tick_us);
  EXPECT_EQ(use.scripts, (std::map<uint32_t, uint64_t>{{20, 55 * tick_us}}));
  EXPECT_EQ(use.workers, (std::map<uint32_t, uint64_t>{{21, 66 * tick_us}, {22, 77 * tick_us}}));
  EXPECT_TRUE(ReadProcessorUse(0, {}, root_ + "/none").scripts.empty());
}

}  // namespace
}  // namespace augur
