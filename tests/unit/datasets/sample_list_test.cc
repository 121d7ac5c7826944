// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace augur {
namespace {

// Against a map.
void ExpectIndex(const Order& files, EntryNumber below) {
  const SampleList list("rule", "root", files);
  std::map<EntryNumber, uint32_t> first;
  for (uint32_t sample = 0; sample < files.size(); ++sample) first.emplace(files[sample], sample);
  for (EntryNumber file = 0; file < below; ++file) {
    const auto at = first.find(file);
    const std::optional<uint32_t> wanted = at == first.end() ? std::nullopt : std::optional(at->second);
    ASSERT_EQ(list.IndexOf(file), wanted) << file;
  }
  EXPECT_LE(list.memory_bytes(), 12 * files.size());
}

TEST(SampleListTest, FindsFilesThatLieDenselyOrNot) {
  std::mt19937 random(1);
  for (const EntryNumber below : {1000U, 1500U, 50'000U}) {
    Order files(below);
    std::iota(files.begin(), files.end(), 0U);
    std::shuffle(files.begin(), files.end(), random);
    files.resize(900);
    ExpectIndex(files, below);
  }
}

TEST(SampleListTest, TheLowestOfSeveralSamplesThatAreOneFile) {
  ExpectIndex({7, 9, 7, 8, 9}, 20);
  ExpectIndex({7000, 90, 7000, 80, 90}, 8000);
}

TEST(SampleListTest, NoFilesAreIndexedToo) {
  const SampleList list("sorted glob .npy", "", {});
  EXPECT_EQ(list.size(), 0U);
  EXPECT_FALSE(list.IndexOf(0).has_value());
  EXPECT_EQ(list.name(), "sorted glob .npy of /");
}

TEST(SampleListTest, TheHighestNumberIsAFileLikeOthers) {
  const SampleList list("rule", "a/b", {0xFFFFFFFF, 0, 5});
  EXPECT_EQ(list.IndexOf(0xFFFFFFFF), 0U);
  EXPECT_EQ(list.IndexOf(5), 2U);
  EXPECT_FALSE(list.IndexOf(6).has_value());
  EXPECT_EQ(list.name(), "rule of a/b");
}

TEST(SampleListTest, ThreadsMayAskAtOnce) {
  Order files(100'000);
  std::iota(files.begin(), files.end(), 3U);
  const SampleList list("rule", "root", files);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  threads.reserve(wrong.size());
  for (int& one : wrong) {
    threads.emplace_back([&list, &one] {
      for (uint32_t sample = 0; sample < list.size(); sample += 97) one += list.IndexOf(sample + 3) != sample;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace augur
