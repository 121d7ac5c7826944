// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "augur/store.h"
#include "base/unique_fd.h"
#include "store/shard_set.h"
#include "store/shard_window.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

// A folder of foreign shards "0", "1" ... of 10,000 bytes each.
class ShardSetTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kCount = 6;
  static constexpr uint64_t kBytes = 10'000;

  void SetUp() override {
    for (uint32_t i = 0; i < kCount; ++i) WriteFile(folder_.path() + "/" + std::to_string(i), Noise(kBytes, i));
    folder_fd_ = UniqueFd(::open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    WriteFile(folder_.path() + "/index", "");
    const UniqueFd index(::open((folder_.path() + "/index").c_str(), O_RDONLY | O_CLOEXEC));
    Result<ShardRights> rights = ShardRights::Make(folder_fd_.get(), folder_.path(), index.get(), "index", {});
    ASSERT_TRUE(rights.ok()) << rights.status().text();
    rights_ = std::make_unique<ShardRights>(std::move(rights).value());
  }

  ShardInfo Info(uint32_t number) const {
    const std::string path = folder_.path() + "/" + std::to_string(number);
    struct stat stat {};
    EXPECT_EQ(::stat(path.c_str(), &stat), 0);
    return {.number = number,
            .foreign = true,
            .absolute = false,
            .locator = std::to_string(number),
            .path = path,
            .bytes = kBytes,
            .token_sec = stat.st_mtim.tv_sec,
            .token_nsec = static_cast<uint32_t>(stat.st_mtim.tv_nsec),
            .generation = 1};
  }

  TempFolder folder_;
  UniqueFd folder_fd_;
  std::unique_ptr<ShardRights> rights_;
};

TEST_F(ShardSetTest, LetsTheLeastRecentlyUsedGo) {
  ShardSet set(false, 3);
  for (const uint32_t number : {0, 1, 2}) ASSERT_TRUE(set.Open(*rights_, Info(number)).ok());
  EXPECT_NE(set.Find(0), nullptr);
  std::shared_ptr<const LocalFile> held = set.Find(1);
  EXPECT_NE(set.Find(0), nullptr);
  ASSERT_TRUE(set.Open(*rights_, Info(3)).ok());
  EXPECT_EQ(set.Find(2), nullptr);
  ASSERT_TRUE(set.Open(*rights_, Info(4)).ok());
  EXPECT_EQ(set.Find(1), nullptr);
  EXPECT_NE(set.Find(0), nullptr);
  EXPECT_NE(set.Find(3), nullptr);
  EXPECT_NE(set.Find(4), nullptr);
  // Who still holds a shard can still read it.
  char byte = 0;
  EXPECT_EQ(::pread(held->fd(), &byte, 1, 0), 1);
  const int fd = held->fd();
  held.reset();
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST_F(ShardSetTest, ManyThreadsOpenAndFind) {
  ShardSet set(false, 2);
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 300; ++i) {
        const uint32_t number = (i * 7 + t) % kCount;
        std::shared_ptr<const LocalFile> file = set.Find(number);
        if (file == nullptr) {
          Result<std::shared_ptr<const LocalFile>> opened = set.Open(*rights_, Info(number));
          if (opened.ok()) file = *opened;
        }
        char byte = 0;
        const bool good = file != nullptr && ::pread(file->fd(), &byte, 1, 17) == 1 && byte == Noise(18, number)[17];
        wrong += good ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

TEST_F(ShardSetTest, AnotherTimeIsLoggedOnce) {
  std::ostringstream text;
  const std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  ShardSet set(false, 1);
  ShardInfo other = Info(0);
  other.token_nsec ^= 1;
  EXPECT_TRUE(set.Open(*rights_, other).ok());
  EXPECT_TRUE(set.Open(*rights_, Info(1)).ok());
  EXPECT_TRUE(set.Open(*rights_, other).ok());
  spdlog::set_default_logger(before);
  const std::string log = text.str();
  EXPECT_THAT(log, HasSubstr(other.path + ": its time has changed"));
  EXPECT_EQ(log.find("its time"), log.rfind("its time"));
}

TEST_F(ShardSetTest, AnotherSizeIsRefusedWithTheCure) {
  ShardSet set(false, 1);
  ShardInfo other = Info(0);
  other.bytes = 10'001;
  const Status status = set.Open(*rights_, other).status();
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_EQ(status.text(), other.path +
                               ": the shard has 10000 bytes, the index says 10001: put the file back as it "
                               "was, or adopt it again");
}

TEST_F(ShardSetTest, OnlyRegularFilesAreShards) {
  ASSERT_EQ(::mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
  ShardSet set(false, 1);
  ShardInfo info = Info(0);
  info.locator = "pipe";
  EXPECT_THAT(set.Open(*rights_, info).status().text(), HasSubstr("not a regular file"));
  info.locator = ".";
  EXPECT_THAT(set.Open(*rights_, info).status().text(), HasSubstr("not a regular file"));
}

class WindowTest : public ShardSetTest, public ::testing::WithParamInterface<bool> {};

TEST_P(WindowTest, HandsOutTheBytesOfTheFile) {
  constexpr uint64_t kLarge = 3'000'001;
  const std::string bytes = Noise(kLarge, 9);
  WriteFile(folder_.path() + "/9", bytes);
  ShardInfo info = Info(9);
  info.bytes = kLarge;
  bool differs = false;
  const Result<std::shared_ptr<const LocalFile>> file = OpenShard(*rights_, info, GetParam(), &differs);
  ASSERT_TRUE(file.ok()) << file.status().text();
  ShardWindow window;
  struct Piece {
    uint64_t offset;
    uint64_t bytes;
    uint64_t ahead;
  };
  for (const Piece& piece : std::vector<Piece>{{0, 1, 0},
                                               {1, 511, kLarge},
                                               {511, 2, kLarge},
                                               {700'000, 1 << 20, 0},
                                               {700'001, 10, 0},
                                               {kLarge - 1, 1, ~uint64_t{0}},
                                               {kLarge - (1 << 20), 1 << 20, kLarge},
                                               {kLarge, 0, 0},
                                               {4096, 4096, 8192}}) {
    const Result<std::span<const std::byte>> got = window.Get(*file, piece.offset, piece.bytes, piece.ahead);
    ASSERT_TRUE(got.ok()) << got.status().text();
    ASSERT_EQ(got->size(), piece.bytes);
    EXPECT_EQ(std::memcmp(got->data(), bytes.data() + piece.offset, piece.bytes), 0) << piece.offset;
  }
}

TEST_P(WindowTest, ATruncatedFileIsCorrupt) {
  bool differs = false;
  const Result<std::shared_ptr<const LocalFile>> file = OpenShard(*rights_, Info(0), GetParam(), &differs);
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(folder_.path() + "/0", 6000);
  ShardWindow window;
  EXPECT_TRUE(window.Get(*file, 5000, 1000, kBytes).ok());
  const Status status = window.Get(*file, 5000, 1001, 0).status();
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_THAT(status.text(), HasSubstr("truncated"));
}

INSTANTIATE_TEST_SUITE_P(Direct, WindowTest, ::testing::Bool());

}  // namespace
}  // namespace augur
