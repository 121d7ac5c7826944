// SPDX-License-Identifier: Apache-2.0
#include "remote/index_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

// An index of random bytes on a server that counts what it is asked for.
class IndexCopyTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 20'000'001;

  void SetUp() override {
    std::mt19937_64 random(1);
    index_.resize(kBytes);
    std::generate(index_.begin(), index_.end(), [&] { return static_cast<std::byte>(random()); });
  }

  std::shared_ptr<IndexCopy> Open(const std::string& path) {
    const auto fetch = [this](std::span<std::byte> out, uint64_t offset, bool again) {
      if (down_) return Status(Code::kIo, "the server is away");
      EXPECT_LE(offset + out.size(), kBytes);
      std::memcpy(out.data(), index_.data() + offset, out.size());
      fetched_ += out.size();
      ++requests_;
      fetched_again_ += again ? out.size() : 0;
      return Status::Ok();
    };
    auto copy = IndexCopy::Open("index-00000001", kBytes, path, fetch);
    EXPECT_TRUE(copy.ok()) << copy.status().text();
    return *copy;
  }

  void ExpectRight(const IndexCopy& copy, uint64_t offset, size_t bytes) {
    std::vector<std::byte> got(bytes);
    const Status status = copy.ReadAt(got, offset);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(std::memcmp(got.data(), index_.data() + offset, bytes), 0) << offset << "+" << bytes;
  }

  testing::TempFolder folder_;
  std::vector<std::byte> index_;
  std::atomic<uint64_t> fetched_ = 0;
  std::atomic<uint64_t> fetched_again_ = 0;  // of them, by another connection
  std::atomic<int> requests_ = 0;
  std::atomic<bool> down_ = false;
};

TEST_F(IndexCopyTest, GivesAnyRangeAndFetchesNothingTwice) {
  const auto copy = Open(folder_.path() + "/index");
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const uint64_t offset = random() % kBytes;
    ExpectRight(*copy, offset, std::min<uint64_t>(random() % 300'000, kBytes - offset));
  }
  ExpectRight(*copy, 0, kBytes);
  EXPECT_EQ(fetched_, kBytes);
  EXPECT_EQ(copy->missing_bytes(), 0U);
  ExpectRight(*copy, 0, kBytes);
  EXPECT_EQ(fetched_, kBytes);
}

TEST_F(IndexCopyTest, ALaterProcessFindsWhatIsHere) {
  {
    const auto copy = Open(folder_.path() + "/index");
    ExpectRight(*copy, 5'000'000, 10);
    EXPECT_LT(fetched_, 2'000'000U);
    const std::atomic<bool> ending = false;
    EXPECT_TRUE(copy->Fill(ending).ok());
    EXPECT_EQ(copy->missing_bytes(), 0U);
    EXPECT_LE(requests_, 9) << "20 MB come in pieces of 256 KiB to 8 MiB, and one was here";
  }
  EXPECT_EQ(fetched_, kBytes);
  down_ = true;
  const auto again = Open(folder_.path() + "/index");
  ExpectRight(*again, 0, kBytes);
}

TEST_F(IndexCopyTest, AReaderWhoGoesOnGetsLargerPieces) {
  const auto copy = Open("");
  for (uint64_t offset = 0; offset + 64'000 < kBytes; offset += 64'000) ExpectRight(*copy, offset, 64'000);
  // 256 KiB, 512 KiB, 1 MiB, 2 MiB; then 4 MiB each: four for the 16 MB that are left.
  EXPECT_EQ(requests_, 8);
}

TEST_F(IndexCopyTest, AReaderWhoJumpsGetsSmallPieces) {
  const auto copy = Open("");
  for (const uint64_t offset : {0, 9'000'000, 3'000'000, 15'000'000, 6'000'000}) ExpectRight(*copy, offset, 1000);
  EXPECT_EQ(requests_, 5);
  EXPECT_LE(fetched_, 5U * (256 << 10));
}

TEST_F(IndexCopyTest, WithoutANameItWorksAndLeavesNothing) {
  const auto copy = Open("");
  ExpectRight(*copy, 1'234'567, 100'000);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(IndexCopyTest, WhatIsWrongInTheCopyIsFetchedAgain) {
  const std::string path = folder_.path() + "/index";
  const auto copy = Open(path);
  ExpectRight(*copy, 0, kBytes);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(70'000);
    file.write("damaged", 7);
  }
  std::vector<std::byte> got(100);
  ASSERT_TRUE(copy->ReadAt(got, 69'990).ok());
  EXPECT_NE(std::memcmp(got.data(), index_.data() + 69'990, got.size()), 0);
  EXPECT_EQ(fetched_again_, 0U);
  ASSERT_TRUE(copy->ReadAgain(got, 69'990).ok());
  EXPECT_EQ(fetched_again_, got.size());
  EXPECT_EQ(std::memcmp(got.data(), index_.data() + 69'990, got.size()), 0);
  ExpectRight(*copy, 69'990, 100);
}

TEST_F(IndexCopyTest, AFailureIsTheReadersAndTheNextReadTriesAgain) {
  const auto copy = Open(folder_.path() + "/index");
  down_ = true;
  std::vector<std::byte> got(100);
  EXPECT_EQ(copy->ReadAt(got, 0).code(), Code::kIo);
  down_ = false;
  ExpectRight(*copy, 0, 100);
  EXPECT_EQ(copy->ReadAt(got, kBytes - 99).code(), Code::kCorrupt) << "past the end";
}

TEST_F(IndexCopyTest, AFileOfAnotherSizeIsBegunAnew) {
  const std::string path = folder_.path() + "/index";
  std::ofstream(path) << std::string(3'000, 'x');
  const auto copy = Open(path);
  ExpectRight(*copy, 0, 3'000);
}

TEST_F(IndexCopyTest, ManyThreadsReadAndFillAtOnce) {
  const auto copy = Open(folder_.path() + "/index");
  const std::atomic<bool> ending = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(copy->Fill(ending).ok()); });
    threads.emplace_back([&, i] {
      std::mt19937_64 random(i);
      for (int j = 0; j < 100; ++j) ExpectRight(*copy, random() % (kBytes - 1000), 1000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetched_, kBytes) << "each byte once, whoever asked";
  ExpectRight(*copy, 0, kBytes);
}

}  // namespace
}  // namespace augur
