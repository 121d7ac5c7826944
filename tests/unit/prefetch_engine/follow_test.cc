// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// Every file is in the page cache before it is opened, its bytes are those that were packed, and what is pushed never
// exceeds the room for it. What is dropped has been read.
TEST_F(PrefetchEngineTest, EachFileIsThereBeforeItsReader) {
  WriteFiles(500, 60'000);
  StartEngine({.push_window_bytes = 6 << 20});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  constexpr size_t kAhead = 40;
  std::set<EntryNumber> read;
  size_t dropped = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    ASSERT_TRUE(i + kAhead >= order.size() || WaitPushed(order[i + kAhead])) << i << " " << DescribeState();
    const std::vector<EntryNumber> drops = mount_->dropped();
    for (; dropped < drops.size(); ++dropped) ASSERT_TRUE(read.contains(drops[dropped])) << i;
    // What the reader is about to open when the order comes is not pushed.
    ASSERT_TRUE(ReadAsReader(order[i]) || i < kAhead) << i;
    read.insert(order[i]);
  }
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kPushes) + reads_ >= order.size(); })) << DescribeState();
  EXPECT_GT(Count(Stat::kDroppedFiles), 0U) << "15 MB do not fit in 6";
  EXPECT_LE(mount_->counts().bytes_most, 6U << 20);
  EXPECT_LT(Count(Stat::kDiskReads), order.size()) << "neighbours are joined";
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
}

// The window is smaller than what a reader is usually given time for.
TEST_F(PrefetchEngineTest, SmallWindow) {
  WriteFiles(300, 60'000);
  StartEngine({.push_window_bytes = 3 << 19});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_TRUE(Follow(order, 3));
}

// A second order is a further epoch; what the retained cache has is not read from the disk again.
TEST_F(PrefetchEngineTest, RetainedFilesArePushedFromMemory) {
  WriteFiles(300, 60'000);
  StartEngine({.chunk_bytes = 32 << 20, .push_window_bytes = 4 << 20, .retained_bytes = 32 << 20});
  const std::vector<Order> orders = {ShuffledHalves(1), ShuffledHalves(2), ShuffledHalves(3)};
  for (const Order& order : orders) ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  Order both = orders[0];
  both.insert(both.end(), orders[1].begin(), orders[1].end());
  ASSERT_TRUE(Follow(both, 20));
  const uint64_t disk_bytes = Count(Stat::kDiskBytes);
  ASSERT_TRUE(Follow(orders[2], 20));
  // But what could not be copied in time when it was read first.
  EXPECT_LE(Count(Stat::kDiskBytes) - disk_bytes, ContentBytes() / 4);
  EXPECT_EQ(Count(Stat::kOrdersAccepted), 3U);
}

// Files that were read before an order came, and are not in it, have the whole retained cache: it is not theirs for
// ever.
TEST_F(PrefetchEngineTest, WhatNobodyPredictsGivesWayToWhatIsPredicted) {
  WriteFiles(600, 60'000);
  StartEngine({.chunk_bytes = 32 << 20, .push_window_bytes = 2 << 20, .retained_bytes = 8 << 20});
  const Order all = Shuffled(1);
  const Order before(all.begin(), all.begin() + 400);
  for (const EntryNumber file : before) ReadAsReader(file);
  ASSERT_GT(retained_cache_->used_bytes(), retained_cache_->bytes_max() * 9 / 10);
  // Of the others, as much as has room.
  files_.assign(all.begin() + 400, all.end());
  const std::vector<Order> epochs = {ShuffledHalves(1), ShuffledHalves(2), ShuffledHalves(3), ShuffledHalves(4),
                                     ShuffledHalves(5)};
  uint64_t bytes = 0;
  for (const EntryNumber file : files_) bytes += Content(file).size();
  for (const Order& order : epochs) ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  // A faster reader may wait in vain: what he would read within the next 2 ms is not pushed any more, and so little of
  // what is ahead has room here that some files find theirs just before that.
  const std::chrono::milliseconds rest(1);
  for (size_t epoch = 0; epoch < 4; ++epoch) ASSERT_TRUE(Follow(epochs[epoch], 12, rest));
  const uint64_t disk_bytes = Count(Stat::kDiskBytes);
  ASSERT_TRUE(Follow(epochs[4], 12, rest));
  // But what could not be copied in time when it was read.
  EXPECT_LE(Count(Stat::kDiskBytes) - disk_bytes, bytes / 4) << DescribeState();
}

// The same file twice in an order, and two files with the same bytes.
TEST_F(PrefetchEngineTest, FilesThatComeTwice) {
  auto writer = StoreWriter::Begin(store_path(), {});
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 120; ++i) {
    const std::string name = std::to_string(100 + i);
    by_name_[name] = RandomBytes(30'000, static_cast<uint64_t>(i / 2));  // 101 is as 100
    ASSERT_TRUE((*writer)->AddFile(name, {.mode = 0644}, {}, AsBytes(by_name_[name])).ok());
  }
  ASSERT_TRUE((*writer)->Commit().ok());
  StartEngine({.push_window_bytes = 2 << 20, .retained_bytes = 4 << 20});
  Order order = ShuffledHalves(1);
  const Order again = ShuffledHalves(2);
  order.insert(order.end(), again.begin(), again.end());
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_TRUE(Follow(order, 8));
}

// What the gauges say of an order, from its beginning to its end.
TEST_F(PrefetchEngineTest, GaugesOfAnOrder) {
  WriteFiles(200, 20'000);
  StartEngine({});
  const std::vector<Order> epochs = {ShuffledHalves(1), ShuffledHalves(2)};
  ahead_->Hold();
  for (const Order& order : epochs) ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(WaitUntilHeld(*ahead_, epochs[0][0]));
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kReadsInFlight) == ahead_->seen().size(); })) << DescribeState();
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 2; })) << "the one that is followed, too";
  EXPECT_EQ(GaugeNow(Gauge::kOrderPosition), 0U);
  EXPECT_EQ(GaugeNow(Gauge::kOrderFiles), 400U);
  ahead_->Release();
  uint64_t bytes = 0;
  for (const EntryNumber file : files_) bytes += RetainedCache::RoomFor(Content(file).size());
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPushWindowBytes) == bytes; })) << DescribeState();
  EXPECT_EQ(GaugeNow(Gauge::kReadsInFlight), 0U);
  for (const Order& order : epochs) {
    for (const EntryNumber file : order) ReadAsReader(file);
  }
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_EQ(GaugeNow(Gauge::kOrderPosition), 400U);
  EXPECT_EQ(GaugeNow(Gauge::kOrderFiles), 400U);
  EXPECT_EQ(GaugeNow(Gauge::kPushWindowBytes), bytes) << "read ones stay while there is room";
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPushesWaiting) == 0; })) << DescribeState();
  prefetcher_->Drop();
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPushWindowBytes) == 0; })) << DescribeState();
}

// Reads that somebody waits for are under way as those ahead of him are.
TEST_F(PrefetchEngineTest, ReadsOnDemandAreInFlightToo) {
  WriteFiles(8, 60'000);
  StartEngine({});
  demand_->Hold();
  std::thread reader([&] { EXPECT_TRUE(ReadThrough(files_[0]).ok()); });
  EXPECT_TRUE(WaitUntilHeld(*demand_, files_[0]));
  EXPECT_EQ(GaugeNow(Gauge::kReadsInFlight), 1U);
  demand_->Release();
  reader.join();
  EXPECT_EQ(GaugeNow(Gauge::kReadsInFlight), 0U);
}

// A READ of a file that is being read ahead waits for that read and makes none of its own.
TEST_F(PrefetchEngineTest, ReadJoinsTheReadAhead) {
  WriteFiles(64, 60'000);
  StartEngine({});
  ahead_->Hold();
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(WaitUntilHeld(*ahead_, order[0]));
  std::vector<std::thread> readers;
  readers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      const Result<std::string> bytes = ReadThrough(order[0]);
      EXPECT_TRUE(bytes.ok() && *bytes == Content(order[0]));
    });
  }
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kRecordCacheJoins) == 4; })) << DescribeState();
  ahead_->Release();
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(demand_->seen().empty());
}

// Without a sink what is read ahead waits for the reader's own READ.
TEST_F(PrefetchEngineTest, WithoutAPageCacheTheReadIsServedFromMemory) {
  WriteFiles(200, 60'000);
  StartEngine({.sink = false});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  // Ahead of the reader there are as many as the staging holds; he is never ahead of it.
  for (const EntryNumber file : order) {
    // The staging holds some of what comes; when it has decided and no read is under way, the next file is there.
    ASSERT_TRUE(WaitUntil([&] {
      LetDecide();
      return GaugeNow(Gauge::kReadsInFlight) == 0;
    })) << DescribeState();
    ReadAsReader(file);
  }
  EXPECT_EQ(reads_, order.size());
  // The last file of all is let go when it is opened, which may be before its READ.
  EXPECT_LE(demand_->seen().size(), 1U) << DescribeState();
  EXPECT_EQ(Count(Stat::kPushes), 0U);
}

// Where opens are not seen, one file in some is left out of the page cache, and its READ tells where the reader is.
TEST_F(PrefetchEngineTest, SentinelsTellWhereTheReaderIs) {
  WriteFiles(1000, 20'000);
  StartEngine({.push_window_bytes = 6 << 20, .see = FakeMount::See::kNothing});
  for (const EntryNumber file : files_) mount_->LookUp(file);  // as after a listing
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  constexpr size_t kEvery = 64;  // 6 MB are 600 files, so there is room for that
  constexpr size_t kAhead = 100;
  const auto comes = [&](size_t place) {
    const EntryNumber file = order[place];
    return place % kEvery == kEvery - 1 ? WaitUntil([&] { return ReadsOf(*ahead_, file) > 0; }) : WaitPushed(file);
  };
  // At first the disk may bring what is read later before what is read soon.
  for (size_t i = 2; i < kAhead; ++i) ASSERT_TRUE(comes(i)) << i << " " << DescribeState();
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + kAhead < order.size()) {
      ASSERT_TRUE(comes(i + kAhead)) << i << " " << DescribeState();
    }
    const bool there = ReadAsReader(order[i]);
    EXPECT_TRUE(i < 2 || there == (i % kEvery != kEvery - 1)) << i;
  }
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kSentinels) == order.size() / kEvery; })) << DescribeState();
  EXPECT_LE(demand_->seen().size(), 2U) << "sentinels are there, too";
}

// Who works out orders needs no opens for now: no folder is watched, but while an order is followed.
TEST_F(PrefetchEngineTest, FoldersAreWatchedWhileOpensAreNeeded) {
  WriteFiles(50, 20'000);
  StartEngine({.listener = {.read = [](uint32_t, EntryNumber, uint32_t) {}, .opened = {}}});
  const auto watches = [this](uint64_t folders) {
    return WaitUntil([this, folders] { return mount_->counts().watched == folders; });
  };
  ASSERT_TRUE(ReadThrough(files_[10]).ok());
  EXPECT_TRUE(watches(1)) << DescribeState();
  prefetcher_->NeedOpens(false);
  EXPECT_TRUE(watches(0)) << DescribeState();
  prefetcher_->NeedOpens(true);
  EXPECT_TRUE(watches(1)) << DescribeState();
  prefetcher_->NeedOpens(false);
  EXPECT_TRUE(watches(0)) << DescribeState();
  for (const EntryNumber file : files_) mount_->LookUp(file);
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_TRUE(watches(1)) << DescribeState();
  ASSERT_TRUE(Follow(order));
  EXPECT_TRUE(watches(0)) << DescribeState();
}

// Where the kernel asks for each open, nothing need be watched, no file is left out of the page cache, and each read is
// told with who makes it, once.
TEST_F(PrefetchEngineTest, AskedOpensTellWhereTheReaderIs) {
  WriteFiles(500, 20'000);
  std::mutex mu;
  std::vector<std::pair<EntryNumber, uint32_t>> told;
  StartEngine({.push_window_bytes = 2 << 20,
               .see = FakeMount::See::kNothing,
               .opens_asked = true,
               .listener = {.read =
                                [&](uint32_t view, EntryNumber file, uint32_t reader) {
                                  EXPECT_EQ(view, 0U);
                                  const std::lock_guard lock(mu);
                                  told.emplace_back(file, reader);
                                },
                            .opened = {}}});
  for (const EntryNumber file : files_) mount_->LookUp(file);
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(Follow(order));
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_EQ(Count(Stat::kSentinels), 0U);
  EXPECT_EQ(Count(Stat::kOpens), order.size());
  fs_->Opened(Node{.view = 0, .entry = files_[0]}.id(), kOwnProcess);
  EXPECT_EQ(Count(Stat::kOpens), order.size()) << "our own are no reader's";
  EXPECT_EQ(mount_->counts().watched, 0U);
  std::vector<std::pair<EntryNumber, uint32_t>> expected;
  for (const EntryNumber file : order) expected.emplace_back(file, kReader);
  const std::lock_guard lock(mu);
  EXPECT_TRUE(told == expected);
}

// Readers that are further apart than one file, and one who reads what they have read already.
TEST_F(PrefetchEngineTest, SeveralReaders) {
  WriteFiles(800, 20'000);
  StartEngine({.retained_bytes = 4 << 20});
  Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  std::mt19937_64 random(7);
  for (auto at = order.begin(); at != order.end(); at += 16) std::shuffle(at, at + 16, random);
  uint64_t late = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    ASSERT_TRUE(i + 50 >= order.size() || WaitPushed(order[i + 50])) << i << " " << DescribeState();
    if (!ReadAsReader(order[i]) && i >= 50) ++late;
    if (i % 16 == 15) ReadAsReader(order[random() % i]);
  }
  EXPECT_EQ(late, 0U);
}

// Who maps his files touches their pages long after he opened them: they are dropped later for it.
TEST_F(PrefetchEngineTest, AReaderWhoComesBackToEachFile) {
  WriteFiles(2000, 20'000);
  StartEngine({.push_window_bytes = 6 << 20});  // 600 files
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  constexpr size_t kBack = 110;
  size_t gone = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    ASSERT_TRUE(i + 40 >= order.size() || WaitPushed(order[i + 40])) << i << " " << DescribeState();
    ReadAsReader(order[i]);
    if (i < kBack || mount_->Pages(order[i - kBack])) continue;
    gone += i >= 1000 ? 1 : 0;
    const Result<std::string> bytes = ReadThrough(order[i - kBack]);
    ASSERT_TRUE(bytes.ok() && *bytes == Content(order[i - kBack]));
    mount_->Brought(order[i - kBack], *bytes);
  }
  EXPECT_LE(gone, 50U) << "of the last 1000, " << DescribeState();
}

// The kernel has thrown everything away: what was pushed is read by READs, and all is right.
TEST_F(PrefetchEngineTest, PagesThatTheKernelTookBack) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 4 << 20});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 50 == 20) mount_->ReclaimAll();
    ReadAsReader(order[i]);
  }
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; }));
}

TEST_F(PrefetchEngineTest, AnOrderThatIsTooLongIsRefused) {
  WriteFiles(20, 1000);
  StartEngine({.order_bytes = 1720});  // ten files of 160 bytes, each read once, 12
  EXPECT_EQ(prefetcher_->OrderFilesMax(kBehind), 10U);
  Order order = files_;
  EXPECT_EQ(prefetcher_->AddOrder(order, kBehind).code(), Code::kNoSpace);
  order.resize(10);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_EQ(prefetcher_->AddOrder({files_[0]}, kBehind).code(), Code::kNoSpace);
  for (const EntryNumber file : order) ReadAsReader(file);
  EXPECT_TRUE(WaitUntil([&] { return prefetcher_->OrderFilesMax(kBehind) == 10; }));
}

TEST_F(PrefetchEngineTest, AnOrderInPlaceOfOthersHasTheirRoom) {
  WriteFiles(20, 1000);
  StartEngine({.order_bytes = 1720});  // ten files of 160 bytes, each read once, 12
  Order first = Shuffled(1);
  first.resize(10);
  ASSERT_TRUE(prefetcher_->AddOrder(first, kBehind).ok());
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; }));
  EXPECT_EQ(prefetcher_->OrderFilesMax(kBehind), 0U);
  EXPECT_EQ(prefetcher_->OrderFilesMax(kInstead), 10U);
  EXPECT_EQ(prefetcher_->AddOrder(files_, kInstead).code(), Code::kNoSpace);
  EXPECT_EQ(GaugeNow(Gauge::kOrdersQueued), 1U) << "what is refused takes nothing away";
  Order second = Shuffled(2);
  second.resize(10);
  ASSERT_TRUE(prefetcher_->AddOrder(second, kInstead).ok());
  for (const EntryNumber file : second) ReadAsReader(file);
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_EQ(Count(Stat::kOrdersAccepted), 2U);
}

// So that what is found out is believed again, and what is read is kept.
TEST_F(PrefetchEngineTest, OrdersThatNobodyReadsAreForgotten) {
  WriteFiles(3000, 1000);
  StartEngine({});
  for (uint64_t seed = 1; seed <= 3; ++seed) ASSERT_TRUE(prefetcher_->AddOrder(Shuffled(seed), kBehind).ok());
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 3; }));
  for (uint64_t seed = 11; seed <= 30 && Count(Stat::kOrdersLost) == 0; ++seed) {
    for (const EntryNumber file : Shuffled(seed)) ReadAsReader(file);
  }
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_GT(Count(Stat::kOrdersLost), 0U);
  EXPECT_FALSE(prefetcher_->FollowsGiven());
}

// More files than the memory ahead holds, files that are larger than it, and next to no memory: all bytes are right,
// and what is too large is left to the reader.
TEST_F(PrefetchEngineTest, TinyMemoryAndLargeFiles) {
  auto writer = StoreWriter::Begin(store_path(), {});
  ASSERT_TRUE(writer.ok());
  for (uint64_t i = 0; i < 60; ++i) {
    const std::string name = std::to_string(100 + i);
    by_name_[name] = RandomBytes(i % 10 == 0 ? 2'500'000 : 20'000 + i, i);
    ASSERT_TRUE((*writer)->AddFile(name, {.mode = 0644}, {}, AsBytes(by_name_[name])).ok());
  }
  ASSERT_TRUE((*writer)->Commit().ok());
  for (const uint64_t chunk_bytes : {uint64_t{1} << 20, uint64_t{256} << 10, uint64_t{64} << 10, uint64_t{4096}}) {
    content_.clear();
    files_.clear();
    StartEngine({.chunk_bytes = chunk_bytes, .push_window_bytes = 1 << 20});
    const Order order = Shuffled(chunk_bytes);
    ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
    for (const EntryNumber file : order) {
      ReadAsReader(file);
    }
    EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
    StopEngine();
  }
}

}  // namespace
}  // namespace augur
