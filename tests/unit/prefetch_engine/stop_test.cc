// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// The end waits for reads and pushes under way, begins no others, and leaves nothing.
TEST_F(PrefetchEngineTest, StopWhileReadsAndPushesAreUnderWay) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 4 << 20});
  const Order order = Shuffled(1);
  mount_->Hold();
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(mount_->WaitUntilHeld());
  ahead_->Hold();
  std::thread stop([&] { prefetcher_->Stop(); });
  // READs are still answered.
  const Result<std::string> bytes = ReadThrough(order.back());
  EXPECT_TRUE(bytes.ok() && *bytes == Content(order.back()));
  mount_->Release();
  ahead_->Release();
  stop.join();
  (void)prefetcher_->AddOrder({order[0]}, kBehind);  // comes too late, and does no harm
  EXPECT_EQ(prefetcher_->Drop().push_window_bytes, 0U);
}

TEST_F(PrefetchEngineTest, StopWithoutWork) {
  WriteFiles(3, 1000);
  StartEngine({.retained_bytes = 4 << 20});
  prefetcher_->Stop();
  prefetcher_->Stop();
}

// Orders, drops and opens come until the end, and after it.
TEST_F(PrefetchEngineTest, OrdersAndDropsDuringStop) {
  WriteFiles(200, 40'000);
  StartEngine({.retained_bytes = 4 << 20});
  std::atomic<bool> ending = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (uint64_t seed = 0; !ending; ++seed) (void)prefetcher_->AddOrder(Shuffled(seed), kBehind);
  });
  threads.emplace_back([&] {
    while (!ending) (void)prefetcher_->Drop();
  });
  threads.emplace_back([&] {
    std::mt19937_64 random(5);
    while (!ending) {
      const EntryNumber file = files_[random() % files_.size()];
      const Result<std::string> bytes = ReadThrough(file);
      EXPECT_TRUE(bytes.ok() && *bytes == Content(file));
    }
  });
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kOrdersAccepted) > 3 && Count(Stat::kDiskReads) > 100; }));
  prefetcher_->Stop();
  ending = true;
  for (std::thread& thread : threads) thread.join();
}

// Everything is thrown away again and again while a reader goes on: he gets the right bytes, and in the end is ahead of
// nobody.
TEST_F(PrefetchEngineTest, DropWhileBusy) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 6 << 20});
  std::atomic<bool> ending = false;
  std::thread dropper([&] {
    while (!ending) {
      (void)prefetcher_->Drop();
      std::this_thread::yield();
    }
  });
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const Order order = Shuffled(epoch);
    ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
    for (const EntryNumber file : order) ReadAsReader(file);
  }
  ending = true;
  dropper.join();
  // Left alone, it is ahead again.
  const Order order = Shuffled(9);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_TRUE(Follow(order, 20));
}

// What a drop says it has given back is gone.
TEST_F(PrefetchEngineTest, DropGivesEverythingBack) {
  WriteFiles(100, 40'000);
  StartEngine({.retained_bytes = 8 << 20});
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  for (size_t i = 5; i < 60; ++i) ASSERT_TRUE(WaitPushed(files_[i])) << DescribeState();
  ASSERT_TRUE(WaitUntil([&] { return retained_cache_->block_count() > 0; }) || Count(Stat::kPushes) > 0);
  ahead_->Hold();
  const DropReport report = prefetcher_->Drop();
  EXPECT_GT(report.push_window_bytes, 0U);
  EXPECT_TRUE(WaitUntil([&] { return mount_->dropped().size() >= 55; })) << DescribeState();
  ahead_->Release();
  EXPECT_TRUE(Follow(files_, 20));
}

}  // namespace
}  // namespace augur
