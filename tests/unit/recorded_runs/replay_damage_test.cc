// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorded_runs/replay_file.h"
#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReplayDamageTest : public ReplayTest {
 protected:
  // A small run of two epochs; the path of its file.
  std::string SaveSmall(const ReplayStore& opened) {
    auto& store = const_cast<ReplayStore&>(opened);
    name_ = ReplayStore::NewName();
    const Status status = store.Save(name_, {.finding = "found", .epochs = {Shuffled(1, 40), Shuffled(2, 30)}});
    EXPECT_TRUE(status.ok()) << status.text();
    return folder_ + "/" + name_;
  }
  std::string name_;
};

TEST_F(ReplayDamageTest, EveryByteIsChecked) {
  const auto store = Open();
  const std::string path = SaveSmall(*store);
  const std::string whole = ReadText(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      WriteText(path, damaged);
      EXPECT_EQ(store->Load(name_).status().code(), Code::kNotFound) << "byte " << at;
      EXPECT_FALSE(std::filesystem::exists(path)) << "byte " << at;
    }
  }
}

TEST_F(ReplayDamageTest, EveryLengthIsChecked) {
  const auto store = Open();
  const std::string path = SaveSmall(*store);
  const std::string whole = ReadText(path);
  for (size_t bytes = 0; bytes < whole.size() + 5; ++bytes) {
    if (bytes == whole.size()) continue;
    std::string other = whole;
    other.resize(bytes);
    WriteText(path, other);
    EXPECT_THAT(*store->Match(Shuffled(1, 40)), IsEmpty()) << bytes;
    EXPECT_FALSE(std::filesystem::exists(path)) << bytes;
  }
}

TEST_F(ReplayDamageTest, OneDamagedRunDoesNotHideTheOthers) {
  const auto store = Open();
  const std::string good = SaveSmall(*store);
  const std::string bad = SaveSmall(*store);
  ASSERT_FALSE(std::filesystem::exists(good)) << "the same run";
  const std::string third = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(third, {.finding = "", .epochs = {Shuffled(9)}}).ok());
  WriteText(bad, "AUGURRUN and then nothing that makes sense");
  const auto list = store->List();
  ASSERT_THAT(*list, SizeIs(1));
  EXPECT_EQ(list->front().name, third);
}

TEST_F(ReplayDamageTest, DamageBeyondTheBeginningsIsFoundWhenTheRunIsLoaded) {
  const auto store = Open();
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(name, {.finding = "", .epochs = {Shuffled(1)}}).ok());
  std::string text = ReadText(folder_ + "/" + name);
  text.back() = static_cast<char>(text.back() ^ 1);
  WriteText(folder_ + "/" + name, text);
  EXPECT_THAT(*store->Match(Shuffled(1)), SizeIs(1));
  EXPECT_EQ(store->Load(name).status().code(), Code::kNotFound);
  EXPECT_EQ(FileCount(), 0U);
}

TEST_F(ReplayDamageTest, WhatIsNoFileOfOursIsLeftAlone) {
  const auto store = Open();
  const std::string fifo = folder_ + "/" + ReplayStore::NewName();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string link = folder_ + "/" + ReplayStore::NewName();
  WriteText(parent_ + "/target", "precious");
  std::filesystem::create_symlink(parent_ + "/target", link);
  WriteText(folder_ + "/run-of-somebody", "x");
  EXPECT_THAT(*store->List(), IsEmpty());
  EXPECT_THAT(*store->Match(Shuffled(1)), IsEmpty());
  EXPECT_EQ(FileCount(), 3U);
  EXPECT_EQ(ReadText(parent_ + "/target"), "precious");
}

TEST_F(ReplayDamageTest, AFolderThatOthersMayWriteToIsRefused) {
  Open();
  ASSERT_EQ(::chmod(folder_.c_str(), 0770), 0);
  EXPECT_EQ(ReplayStore::Open(folder_, summary_).status().code(), Code::kPermission);
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  std::filesystem::rename(folder_, parent_ + "/elsewhere");
  std::filesystem::create_directory_symlink(parent_ + "/elsewhere", folder_);
  EXPECT_FALSE(ReplayStore::Open(folder_, summary_).ok()) << "a link";
}

TEST_F(ReplayDamageTest, AFolderOrAFileOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make one";
  const auto store = Open();
  const std::string path = SaveSmall(*store);
  ASSERT_EQ(::chown(path.c_str(), 12'345, 12'345), 0);
  EXPECT_EQ(store->Load(name_).status().code(), Code::kNotFound);
  EXPECT_THAT(*store->Match(Shuffled(1, 40)), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(path));
  ASSERT_EQ(::chown(folder_.c_str(), 12'345, 12'345), 0);
  EXPECT_EQ(ReplayStore::Open(folder_, summary_).status().code(), Code::kPermission);
}

TEST_F(ReplayDamageTest, TheFolderMayGoAwayMeanwhile) {
  const auto store = Open();
  SaveSmall(*store);
  std::filesystem::remove_all(parent_ + "/orders");
  const auto list = store->List();
  EXPECT_TRUE(!list.ok() || list->empty());
  EXPECT_FALSE(store->Save(ReplayStore::NewName(), {.finding = "x", .epochs = {}}).ok());
  EXPECT_EQ(store->Load(name_).status().code(), Code::kNotFound);
}

TEST_F(ReplayDamageTest, WhatAKilledWriterLeftIsRemovedWhenItIsOld) {
  Open();
  const std::string old_path = folder_ + "/new-" + std::string(32, 'a');
  const std::string young_path = folder_ + "/new-" + std::string(32, 'b');
  WriteText(old_path, "half a run");
  WriteText(young_path, "half a run");
  const timespec times[2] = {{.tv_sec = 1'000'000, .tv_nsec = 0}, {.tv_sec = 1'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old_path.c_str(), times, 0), 0);
  EXPECT_THAT(*Open()->List(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(old_path));
  EXPECT_TRUE(std::filesystem::exists(young_path));
}

}  // namespace
}  // namespace augur
