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
    Result<std::shared_ptr<const LocalFile>> shard;
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

  static const LocalFiles& FilesOf(const Store& store) { return dynamic_cast<const LocalFiles&>(store.files()); }

  static Outcome Open(ShardOpener& opener, const Entry& file) {
    std::promise<Outcome> promise;
    opener.Open(file.shard, [&](Result<std::shared_ptr<const LocalFile>> shard) {
      promise.set_value({.shard = std::move(shard), .thread = std::this_thread::get_id()});
    });
    return promise.get_future().get();
  }

  Entry photo_;
};

TEST_F(ShardOpenerTest, WhoAsksDoesNotOpen) {
  ShardOpener opener(store_, FilesOf(*store_));
  const Outcome first = Open(opener, photo_);
  ASSERT_TRUE(first.shard.ok()) << first.shard.status().text();
  EXPECT_NE(first.thread, std::this_thread::get_id());
  const Outcome second = Open(opener, photo_);
  ASSERT_TRUE(second.shard.ok());
  EXPECT_EQ(second.thread, std::this_thread::get_id()) << "it is open now";
  EXPECT_EQ(*second.shard, *first.shard);
}

TEST_F(ShardOpenerTest, AMissingShardIsToldByName) {
  const auto shard = store_->OpenShard(photo_.shard);
  ASSERT_TRUE(shard.ok());
  std::filesystem::remove((*shard)->path());
  const auto again = Store::Open(store_path());
  ASSERT_TRUE(again.ok());
  ShardOpener opener(*again, FilesOf(**again));
  const Outcome outcome = Open(opener, photo_);
  EXPECT_EQ(outcome.shard.status().code(), Code::kCorrupt);
  EXPECT_NE(outcome.shard.status().text().find((*shard)->path()), std::string::npos) << outcome.shard.status().text();
}

TEST_F(ShardOpenerTest, DrainWaitsForAllThatWasAsked) {
  constexpr int kTimes = 200;
  ShardOpener opener(store_, FilesOf(*store_));
  std::atomic<int> done = 0;
  for (int i = 0; i < kTimes; ++i) {
    opener.Open(photo_.shard, [&](const Result<std::shared_ptr<const LocalFile>>& shard) {
      EXPECT_TRUE(shard.ok());
      std::this_thread::yield();
      ++done;
    });
  }
  opener.Drain();
  EXPECT_EQ(done, kTimes);
}

}  // namespace
}  // namespace augur
