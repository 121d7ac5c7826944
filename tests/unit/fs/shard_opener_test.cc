// SPDX-License-Identifier: Apache-2.0
#include "store/shard_opener.h"

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

class ShardOpenerTest : public StoreFixture {
 protected:
  struct Outcome {
    Result<Extent> extent;
    std::thread::id thread;
  };

  void SetUp() override {
    Write([](StoreWriter& writer) {
      ASSERT_TRUE(writer.AddFile("photo", {.mode = 0644}, {}, AsBytes(RandomBytes(110'000, 1))).ok());
    });
    const auto store = Store::Open(store_path());
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    const auto photo = store_->Find("photo");
    ASSERT_TRUE(photo.ok());
    photo_ = *photo;
  }

  static Outcome Locate(ShardOpener& opener, const Entry& file) {
    std::promise<Outcome> promise;
    opener.Locate(file, 0, [&](Result<Extent> extent) {
      promise.set_value({.extent = std::move(extent), .thread = std::this_thread::get_id()});
    });
    return promise.get_future().get();
  }

  Entry photo_;
};

TEST_F(ShardOpenerTest, WhoAsksDoesNotOpen) {
  ShardOpener opener(store_);
  const Outcome first = Locate(opener, photo_);
  ASSERT_TRUE(first.extent.ok()) << first.extent.status().text();
  EXPECT_NE(first.thread, std::this_thread::get_id());
  const Outcome second = Locate(opener, photo_);
  ASSERT_TRUE(second.extent.ok());
  EXPECT_EQ(second.thread, std::this_thread::get_id()) << "it is open now";
  EXPECT_EQ(second.extent->file, first.extent->file);
  EXPECT_EQ(second.extent->offset, photo_.offset);
  EXPECT_EQ(second.extent->bytes, photo_.size);
}

TEST_F(ShardOpenerTest, AMissingShardIsToldByName) {
  const auto extent = store_->Locate(photo_, 0);
  ASSERT_TRUE(extent.ok());
  std::filesystem::remove(extent->file->path);
  const auto again = Store::Open(store_path());
  ASSERT_TRUE(again.ok());
  ShardOpener opener(*again);
  const Outcome outcome = Locate(opener, photo_);
  EXPECT_EQ(outcome.extent.status().code(), Code::kCorrupt);
  EXPECT_NE(outcome.extent.status().text().find(extent->file->path), std::string::npos)
      << outcome.extent.status().text();
}

TEST_F(ShardOpenerTest, SettleWaitsForAllThatWasAsked) {
  constexpr int kTimes = 200;
  ShardOpener opener(store_);
  std::atomic<int> done = 0;
  for (int i = 0; i < kTimes; ++i) {
    opener.Locate(photo_, 0, [&](const Result<Extent>& extent) {
      EXPECT_TRUE(extent.ok());
      std::this_thread::yield();
      ++done;
    });
  }
  opener.Settle();
  EXPECT_EQ(done, kTimes);
}

}  // namespace
}  // namespace augur
