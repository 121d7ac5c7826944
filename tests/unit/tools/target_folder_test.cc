// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/target_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tools/commands/write_all.h"
#include "unit/system_faults.h"

namespace augur {
namespace {

class TargetFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "augur-target-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status Write() const {
    const auto top = TargetFolder::OpenTop(folder_);
    Entry attributes;
    attributes.mode = 0644;
    return (*top)->WriteFile(
        "a", attributes, /*force=*/false, /*special_modes=*/false,
        [](int fd, const std::string& path) { return WriteAll(fd, std::as_bytes(std::span("text")), path); });
  }

  std::string folder_;
};

TEST_F(TargetFolderTest, AFileWhoseCloseFailsIsNotWritten) {
  const SystemFaults faults(
      [](const SystemCall& call) { return call.name == "close" && NameOf(call.fd) == "a" ? EDQUOT : 0; });
  const Status written = Write();
  EXPECT_EQ(written.code(), Code::kNoSpace);
  EXPECT_EQ(written.text(), folder_ + "/a: Disk quota exceeded");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(TargetFolderTest, AFileIsClosedOnce) {
  int closed = 0;
  const SystemFaults faults([&closed](const SystemCall& call) {
    if (call.name == "close" && NameOf(call.fd) == "a") ++closed;
    return 0;
  });
  EXPECT_TRUE(Write().ok());
  EXPECT_EQ(closed, 1);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/a"));
}

}  // namespace
}  // namespace augur
