// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_folders.h"

#include <unistd.h>

#include <chrono>

#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

namespace fs = std::filesystem;

class ReplayFoldersTest : public ReplayTest {
 protected:
  // The folder of a store, opened so many hours ago, with a recorded run in it.
  std::string Remember(unsigned number, int hours) {
    folder_ = parent_ + "/orders/" + std::string(15, '0') + "0123456789abcdef"[number];
    const auto store = Open();
    EXPECT_TRUE(store->Save(ReplayStore::NewName(), {.finding = "f", .epochs = {Shuffled(number, 100)}}).ok());
    fs::last_write_time(folder_, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return folder_;
  }
};

TEST_F(ReplayFoldersTest, ThoseOpenedLongestAgoGo) {
  const std::string old = Remember(1, 9);
  const std::string older = Remember(2, 10);
  const std::string young = Remember(3, 1);
  ASSERT_TRUE(TrimReplayFolders(parent_ + "/orders", 3).ok());
  EXPECT_TRUE(fs::exists(older));
  ASSERT_TRUE(TrimReplayFolders(parent_ + "/orders", 1).ok());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(ReplayFoldersTest, OpeningAStoreTrimsTheOthersAndCounts) {
  const std::string used = Remember(1, 10);
  const std::string unused = Remember(2, 9);
  folder_ = used;
  const auto store = Open({.stores_max = 1});
  EXPECT_FALSE(fs::exists(unused)) << "though the other was made before it";
  EXPECT_THAT(*store->List(), testing::SizeIs(1));
}

TEST_F(ReplayFoldersTest, WhatIsNotOursStays) {
  const std::string mine = Remember(1, 10);
  std::ofstream(mine + "/note") << "not ours";
  fs::create_directory(parent_ + "/orders/else");
  fs::create_directory_symlink(parent_, parent_ + "/orders/" + std::string(16, 'a'));
  const std::string others = Remember(2, 11);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(others.c_str(), 12'345, 12'345), 0);
  }
  ASSERT_TRUE(TrimReplayFolders(parent_ + "/orders", 0).ok());
  EXPECT_TRUE(fs::exists(mine + "/note"));
  EXPECT_EQ(std::distance(fs::directory_iterator(mine), {}), 1) << "the run is gone";
  EXPECT_TRUE(fs::exists(parent_ + "/orders/else"));
  EXPECT_TRUE(fs::exists(parent_ + "/orders/" + std::string(16, 'a')));
  EXPECT_EQ(fs::exists(others), ::geteuid() == 0);
}

TEST_F(ReplayFoldersTest, AFolderThatIsNotThereIsSaid) {
  EXPECT_EQ(TrimReplayFolders(parent_ + "/nothing", 1).code(), Code::kNotFound);
}

}  // namespace
}  // namespace augur
