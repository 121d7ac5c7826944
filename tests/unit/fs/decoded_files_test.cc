// SPDX-License-Identifier: Apache-2.0
// What of the files of views gets into the decoded cache.
#include "fs/decoded_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

class DecodedFilesTest : public ViewsFixture {
 protected:
  // So many files may wait to be written, and none is before decoded_->Start().
  void OpenWithCache(uint64_t files) { OpenWithDecodedCache(kBudget, files * kArrayBytes); }

  void ReadImage(int i) {
    const std::string path = In("npy", "images/" + std::to_string(100 + i) + ".npy");
    const Result<std::string> bytes = ReadNow(NodeOf(path), 0, kReadBytesMax);
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    EXPECT_EQ(bytes->size(), kArrayBytes);
  }

  template <typename Condition>
  static bool WaitUntil(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

// Held in memory, so nobody makes it again; it must get to the disk all the same.
TEST_F(DecodedFilesTest, WhatTheDiskDidNotFollowIsWrittenWhenItIsReadAgain) {
  OpenWithCache(1);
  ReadImage(0);
  ReadImage(1);
  ASSERT_TRUE(decoded_->Start().ok());
  EXPECT_TRUE(WaitUntil([&] { return decoded_->counters().files == 1; }));
  EXPECT_TRUE(WaitUntil([&] {
    ReadImage(1);
    return decoded_->counters().files == 2;
  }));
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), 2U);
}

// ... and what is read again before it is written waits once, and leaves the others their room.
TEST_F(DecodedFilesTest, WhatWaitsToBeWrittenWaitsOnce) {
  OpenWithCache(3);
  for (int i = 0; i < 3; ++i) ReadImage(0);
  ReadImage(1);
  ASSERT_TRUE(decoded_->Start().ok());
  EXPECT_TRUE(WaitUntil([&] { return decoded_->counters().files == 2; }));
}

}  // namespace
}  // namespace augur
