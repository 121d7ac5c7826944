// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace augur {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string name = (std::filesystem::temp_directory_path() / "augur-log-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~LogTest() override {
    EXPECT_TRUE(StartLog("augurfs", LogTarget::kStderr).ok());
    std::filesystem::remove_all(folder_);
  }

  std::string Path(size_t number) const { return folder_ / std::to_string(number); }
  void LogTo(size_t number) const { ASSERT_TRUE(StartLog("augurfs", LogTarget::kFile, Path(number)).ok()); }
  std::string TextOf(size_t number) const {
    std::ifstream file(Path(number));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(LogTest, GoesToTheLastPlaceWithItsPattern) {
  LogTo(1);
  spdlog::info("one");
  LogTo(2);
  spdlog::warn("two");
  EXPECT_NE(TextOf(1).find("info: one\n"), std::string::npos);
  EXPECT_EQ(TextOf(1).find("two"), std::string::npos);
  EXPECT_NE(TextOf(2).find(" augurfs["), std::string::npos) << TextOf(2);
  EXPECT_NE(TextOf(2).find("warning: two\n"), std::string::npos) << TextOf(2);
}

// As a daemon does that leaves its caller's streams while it answers requests.
TEST_F(LogTest, ChangesItsPlaceWhileThreadsLog) {
  constexpr size_t kPlaces = 50;
  constexpr size_t kLines = 2000;
  LogTo(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (size_t line = 0; line < kLines; ++line) spdlog::info("a line");
    });
  }
  for (size_t place = 1; place < kPlaces; ++place) LogTo(place);
  for (std::thread& thread : threads) thread.join();
  size_t lines = 0;
  for (size_t place = 0; place < kPlaces; ++place) {
    const std::string text = TextOf(place);
    lines += static_cast<size_t>(std::ranges::count(text, '\n'));
  }
  EXPECT_EQ(lines, 3 * kLines);
}

}  // namespace
}  // namespace augur
