// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace augur {

// Bytes that are the same for the same seed.
inline std::vector<std::byte> RandomBytes(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

// A file with the given bytes in the system's folder for temporary files, removed at the end.
class TempFile {
 public:
  explicit TempFile(std::span<const std::byte> bytes) : path_(testing::TempDir() + "/augur_io_XXXXXX") {
    const UniqueFd fd(::mkstemp(path_.data()));
    EXPECT_TRUE(fd.valid()) << path_;
    EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~TempFile() { ::unlink(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace augur
