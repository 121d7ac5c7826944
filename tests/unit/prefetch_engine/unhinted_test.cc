// SPDX-License-Identifier: Apache-2.0
#include "unit/datasets/shared_order.h"
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// A pass in path order is recognised, and what comes next is there before it is opened.
TEST_F(PrefetchEngineTest, PathOrderIsFollowedWithoutAHint) {
  WriteFiles(1000, 10'000);
  StartEngine({});
  for (size_t i = 0; i < 100; ++i) ReadAsReader(files_[i]);
  EXPECT_TRUE(Follow(Order(files_.begin() + 100, files_.end())));
}

// What a pass was over is forgotten when there is no memory for more files, and the pass goes on.
TEST_F(PrefetchEngineTest, APassOverMoreFilesThanMemoryHolds) {
  WriteFiles(11'000, 6000);
  constexpr uint64_t kOrderBytes = 7000 * (Planner::kBytesPerFile + EpochOrder::kBytesPerRead);
  StartEngine({.order_bytes = kOrderBytes});
  const size_t end = files_.size() - 500;
  for (size_t i = 0; i < end; ++i) {
    ReadAsReader(files_[i]);
    ASSERT_LE(GaugeNow(Gauge::kOrderBytes), kOrderBytes) << i;
  }
  const auto there = [this](EntryNumber file) { return mount_->Pages(file).has_value(); };
  EXPECT_TRUE(WaitUntil([&] {
    return std::count_if(files_.begin() + static_cast<ptrdiff_t>(end), files_.end(), there) > 100;
  })) << DescribeState();
}

// After an order has ended, a pass in path order is recognised as before it.
TEST_F(PrefetchEngineTest, PathOrderAfterAnOrder) {
  WriteFiles(1000, 10'000);
  StartEngine({});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(Follow(order));
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  mount_->ReclaimAll();
  prefetcher_->Drop();
  for (size_t i = 0; i < 100; ++i) ReadAsReader(files_[i]);
  EXPECT_TRUE(Follow(Order(files_.begin() + 100, files_.end())));
}

// An order that was found goes before a pass that was recognised, which would read elsewhere.
TEST_F(PrefetchEngineTest, AFoundOrderIsFollowedInPlaceOfARecognisedPass) {
  WriteFiles(6000, 6000);
  StartEngine({});
  for (size_t i = 0; i < 100; ++i) ReadAsReader(files_[i]);
  ASSERT_TRUE(WaitUntil([&] { return Count(Stat::kPushes) > 0; })) << DescribeState();
  Order order(files_.begin() + 3000, files_.end());
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  prefetcher_->Predict(Shared(order), 0, true);
  // A reader of such small files overtakes the pushes on a busy machine, and then reads them itself.
  EXPECT_TRUE(Follow(Order(order.begin(), order.begin() + 500), 40, std::chrono::milliseconds(1)));
}

// When the store fits, all of it comes into memory, whatever is read.
TEST_F(PrefetchEngineTest, AStoreThatFitsIsBroughtAsAWhole) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 32 << 20});
  const Order order = Shuffled(1);
  for (size_t i = 0; i < 10; ++i) ReadAsReader(order[i]);
  ASSERT_TRUE(WaitUntil([&] { return retained_cache_->block_count() == files_.size(); }))
      << retained_cache_->block_count() << DescribeState();
  const size_t disk_reads = demand_->seen().size() + ahead_->seen().size();
  mount_->ReclaimAll();
  for (const EntryNumber file : order) ReadAsReader(file);
  EXPECT_EQ(demand_->seen().size() + ahead_->seen().size(), disk_reads);
}

// Eight files that were read are a run, and not a look. Their opens are not told here.
TEST_F(PrefetchEngineTest, AStoreThatFitsIsBroughtAfterEightReads) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 32 << 20, .see = FakeMount::See::kNothing});
  for (size_t i = 0; i < 8; ++i) ReadAsReader(files_[i * 7]);
  EXPECT_TRUE(WaitUntil([&] { return retained_cache_->block_count() == files_.size(); })) << DescribeState();
}

// Where the page cache has room for it as well, it comes there, and not into memory of ours too: unless others are to
// find it there.
TEST_F(PrefetchEngineTest, AStoreThatFitsIsBroughtToThePageCache) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 32 << 20, .reusable_bytes = 64 << 20});
  const Order order = Shuffled(1);
  for (size_t i = 0; i < 10; ++i) ReadAsReader(order[i]);
  for (const EntryNumber file : order)
    EXPECT_TRUE(mount_->WaitFor(file, content_[file].size())) << file << DescribeState();
  // Those that were read before anybody could know.
  EXPECT_LE(retained_cache_->block_count(), 10U);
  const size_t disk_reads = demand_->seen().size() + ahead_->seen().size();
  for (const EntryNumber file : order) ReadAsReader(file);
  EXPECT_EQ(demand_->seen().size() + ahead_->seen().size(), disk_reads);
}

TEST_F(PrefetchEngineTest, WhatOthersAreToFindIsKeptAllTheSame) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 32 << 20, .reusable_bytes = 64 << 20, .retains_read = true});
  for (size_t i = 0; i < 10; ++i) ReadAsReader(files_[i * 7]);
  EXPECT_TRUE(WaitUntil([&] { return retained_cache_->block_count() == files_.size(); })) << DescribeState();
}

// Nor where the tables have no room to know of each file whether it was left in the page cache.
TEST_F(PrefetchEngineTest, WhatCannotBeKnownToBeLeftIsKept) {
  WriteFiles(300, 60'000);
  StartEngine({.retained_bytes = 32 << 20, .order_bytes = Prefetcher::OrderBytes(300) - 1, .reusable_bytes = 64 << 20});
  for (size_t i = 0; i < 10; ++i) ReadAsReader(files_[i * 7]);
  EXPECT_TRUE(WaitUntil([&] { return retained_cache_->block_count() == files_.size(); })) << DescribeState();
}

// With no order and more data than room, what came first stays: in each shuffled epoch it is a hit again.
TEST_F(PrefetchEngineTest, WithoutAnOrderWhatFitsStays) {
  WriteFiles(400, 60'000);  // fewer than are ever recognised as a pass
  StartEngine({.retained_bytes = 4 << 20});
  const auto keys = [&] {
    std::set<std::pair<uint64_t, uint64_t>> all;
    for (const RetainedCacheKey& key : retained_cache_->List()) all.emplace(key.identity.low, key.identity.high);
    return all;
  };
  for (const EntryNumber file : Shuffled(1)) ReadAsReader(file);
  const auto retained = keys();
  ASSERT_GT(retained.size(), 50U);
  EXPECT_GT(retained_cache_->used_bytes(), retained_cache_->bytes_max() * 9 / 10);
  for (uint64_t epoch = 2; epoch < 5; ++epoch) {
    mount_->ReclaimAll();
    const uint64_t hits_before = Count(Stat::kRetainedCacheHits);
    const uint64_t cached_before = Count(Stat::kRecordCacheHits);
    for (const EntryNumber file : Shuffled(epoch)) ReadAsReader(file);
    // The record cache answers the rest of them.
    EXPECT_LE(Count(Stat::kRetainedCacheHits) - hits_before, retained.size());
    EXPECT_GE(Count(Stat::kRetainedCacheHits) - hits_before + Count(Stat::kRecordCacheHits) - cached_before,
              retained.size());
    EXPECT_EQ(keys(), retained);
  }
}

// A read of a part of a kept file is answered from where it is kept: no block is copied for it, none read again.
TEST_F(PrefetchEngineTest, PartsOfRetainedBlocksAreNotCopied) {
  by_name_["large"] = RandomBytes(3 * kBlockBytes + 77, 1);
  Write([&](StoreWriter& writer) {
    ASSERT_TRUE(writer.AddFile("large", {.mode = 0644}, {}, AsBytes(by_name_["large"])).ok());
  });
  StartEngine({.retained_bytes = 8 << 20});
  const EntryNumber file = files_.front();
  ASSERT_TRUE(ReadThrough(file).ok());
  ASSERT_EQ(retained_cache_->block_count(), 4U);
  const size_t disk_reads = demand_->seen().size() + ahead_->seen().size();
  const CacheCounters cached = cache_.counters();
  const uint64_t hits = Count(Stat::kRetainedCacheHits);
  const NodeId node = Node{.view = 0, .entry = file}.id();
  const struct {
    uint64_t offset;
    size_t bytes;
    uint64_t blocks;
  } reads[] = {{0, 1, 1},
               {5000, 4096, 1},
               {kBlockBytes - 500, 1000, 2},
               {2 * kBlockBytes, kBlockBytes, 1},
               {3 * kBlockBytes, 4096, 1}};
  uint64_t blocks = 0;
  for (const auto& read : reads) {
    const Result<std::string> bytes = ReadNow(node, read.offset, read.bytes);
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    EXPECT_TRUE(*bytes == Content(file).substr(read.offset, read.bytes)) << read.offset;
    blocks += read.blocks;
  }
  EXPECT_EQ(Count(Stat::kRetainedCacheHits) - hits, blocks);
  EXPECT_EQ(demand_->seen().size() + ahead_->seen().size(), disk_reads);
  EXPECT_EQ(cache_.counters().hits, cached.hits);
  EXPECT_EQ(cache_.counters().misses, cached.misses);
}

// A few reads of a store that does not fit bring nothing that nobody asked for.
TEST_F(PrefetchEngineTest, ALookBringsNothingElse) {
  WriteFiles(400, 60'000);
  StartEngine({.retained_bytes = 4 << 20});
  const Order order = Shuffled(1);
  for (size_t i = 0; i < 30; ++i) ReadAsReader(order[i]);
  EXPECT_TRUE(ahead_->seen().empty());
  EXPECT_EQ(mount_->counts().pushes, 0U);
}

}  // namespace
}  // namespace augur
