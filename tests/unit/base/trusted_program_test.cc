// SPDX-License-Identifier: Apache-2.0
#include "base/trusted_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace augur {
namespace {

using testing::HasSubstr;

// A folder of this user in the system's folder for temporary files, which has a sticky bit.
class TrustedProgram : public testing::Test {
 protected:
  TrustedProgram() {
    std::string name = (std::filesystem::temp_directory_path() / "augur-program-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    program_ = folder_ / "program";
    std::ofstream(program_) << "#!/bin/sh\n";
    EXPECT_EQ(chmod(program_.c_str(), 0755), 0);
  }
  ~TrustedProgram() override { std::filesystem::remove_all(folder_); }

  static Status Open(const std::filesystem::path& path) { return OpenTrustedProgram(path).status(); }

  std::filesystem::path folder_;
  std::filesystem::path program_;
};

TEST_F(TrustedProgram, OpensAProgramAlsoByALink) {
  EXPECT_TRUE(Open(program_).ok()) << Open(program_).text();
  std::filesystem::create_symlink(program_, folder_ / "link");
  EXPECT_TRUE(Open(folder_ / "link").ok()) << Open(folder_ / "link").text();
}

TEST_F(TrustedProgram, WhatIsNoneIsRefused) {
  EXPECT_EQ(Open(folder_ / "missing").code(), Code::kNotFound);
  EXPECT_EQ(Open(folder_).code(), Code::kInvalid);
  EXPECT_EQ(Open("program").code(), Code::kInvalid);
  EXPECT_EQ(Open("").code(), Code::kInvalid);
  ASSERT_EQ(chmod(program_.c_str(), 0644), 0);
  EXPECT_EQ(Open(program_).code(), Code::kPermission);
}

TEST_F(TrustedProgram, RootRunsNothingThatOthersMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(chmod(program_.c_str(), 0775), 0);
  EXPECT_THAT(Open(program_).text(), HasSubstr(program_.string() + ": other users may write to it"));
  ASSERT_EQ(chmod(program_.c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(Open(program_).text(), HasSubstr(folder_.string() + ": other users may write to it"));
  ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);  // as /tmp: none of them can replace root's file
  EXPECT_TRUE(Open(program_).ok()) << Open(program_).text();
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chown(program_.c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(Open(program_).text(), HasSubstr(program_.string() + ": belongs to user 65534"));
}

}  // namespace
}  // namespace augur
