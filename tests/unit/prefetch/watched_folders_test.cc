// SPDX-License-Identifier: Apache-2.0
#include "prefetch/watched_folders.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace augur {
namespace {

// Notes what is watched.
class NotingView final : public MountView {
 public:
  void SelectView(uint32_t /*view*/, const std::string& /*spec*/, bool /*is_root*/) override {}
  bool usable() const override { return true; }
  bool watching() const override { return true; }
  void Stat(std::span<const EntryNumber> /*files*/, Done /*done*/) override { ADD_FAILURE(); }
  void Drop(std::span<const EntryNumber> /*files*/, Done /*done*/) override { ADD_FAILURE(); }
  void Watch(std::span<const EntryNumber> folders) override {
    EXPECT_FALSE(folders.empty());
    for (const EntryNumber folder : folders) EXPECT_TRUE(watched.insert(folder).second) << folder;
  }
  void Unwatch() override { watched.clear(); }

  std::set<EntryNumber> watched;
};

class WatchedFoldersTest : public ::testing::Test {
 protected:
  WatchedFoldersTest() { folders_.SetView(&view_); }

  NotingView view_;
  WatchedFolders folders_;
};

TEST_F(WatchedFoldersTest, EachFolderIsWatchedOnce) {
  folders_.Add(std::array<EntryNumber, 3>{5, 6, 5});
  folders_.Add(std::array<EntryNumber, 2>{6, 7});
  EXPECT_EQ(view_.watched, (std::set<EntryNumber>{5, 6, 7}));
}

TEST_F(WatchedFoldersTest, NoneIsWatchedWhileNobodyNeedsOpens) {
  folders_.Add(std::array<EntryNumber, 1>{5});
  folders_.SetNeeded(false);
  EXPECT_EQ(view_.watched.size(), 1U);
  folders_.Update(true);
  EXPECT_EQ(view_.watched.size(), 1U);
  folders_.Update(false);
  EXPECT_TRUE(view_.watched.empty());
  folders_.Add(std::array<EntryNumber, 1>{6});
  EXPECT_TRUE(view_.watched.empty());
  folders_.Update(true);
  EXPECT_EQ(view_.watched, (std::set<EntryNumber>{5, 6}));
}

TEST_F(WatchedFoldersTest, FoldersOfTheViewBeforeAreNotWatchedAgain) {
  folders_.Add(std::array<EntryNumber, 1>{5});
  folders_.Clear();
  folders_.SetNeeded(false);
  folders_.Update(false);
  folders_.Update(true);
  EXPECT_TRUE(view_.watched.empty());
}

TEST(WatchedFoldersWithoutViewTest, NothingHappens) {
  WatchedFolders folders;
  folders.Add(std::array<EntryNumber, 1>{5});
  folders.SetNeeded(false);
  folders.Update(false);
  folders.Update(true);
}

}  // namespace
}  // namespace augur
