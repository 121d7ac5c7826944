// SPDX-License-Identifier: Apache-2.0
#include "unit/s3/aws_home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace augur {

AwsHome::AwsHome() {
  path_ = std::filesystem::temp_directory_path() / "augur-aws-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << path_;
}

AwsHome::~AwsHome() { std::filesystem::remove_all(path_); }

std::string AwsHome::Write(const std::string& name, const std::string& text, unsigned mode) const {
  const std::filesystem::path file = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  EXPECT_EQ(chmod(file.c_str(), mode), 0);
  return file;
}

ProfileFiles AwsHome::Files() const {
  Result<ProfileFiles> files = ProfileFiles::Load(environment(), path_);
  EXPECT_TRUE(files.ok()) << files.status().text();
  return files.ok() ? *files : ProfileFiles();
}

}  // namespace augur
