// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// 'augurctl warm': files come into the retained cache while nobody reads.
class WarmTest : public PrefetchEngineTest {
 protected:
  uint64_t Begin(const Order& files) {
    const Result<uint64_t> run = prefetcher_->BeginWarm(std::make_shared<const Order>(files));
    EXPECT_TRUE(run.ok()) << run.status().text();
    return run.ok() ? *run : 0;
  }
  WarmReport Now(uint64_t run, bool end = false) {
    const Result<WarmReport> report = prefetcher_->Warmed(run, end);
    EXPECT_TRUE(report.ok()) << report.status().text();
    return report.ok() ? *report : WarmReport();
  }
  WarmReport AtEnd(uint64_t run) {
    WarmReport report;
    EXPECT_TRUE(WaitUntil([&] {
      report = Now(run);
      return !report.running;
    })) << report.kept_files
        << " of " << report.planned_files << " files: " << DescribeState();
    return report;
  }
  WarmReport Warm(const Order& files) { return AtEnd(Begin(files)); }
  bool IsRetained(EntryNumber file) { return retained_->Contains(ViewFile::Original(*store_->Get(file), 0)); }
  size_t RetainedOf(const Order& files) {
    return static_cast<size_t>(std::ranges::count_if(files, [this](EntryNumber file) { return IsRetained(file); }));
  }
};

TEST_F(WarmTest, AllComesAndReadersNeedNoDisk) {
  WriteFiles(300, 10'000);
  StartEngine({.retained_bytes = 8 << 20});
  const WarmReport report = Warm(files_);
  EXPECT_EQ(report.files, 300U);
  EXPECT_EQ(report.bytes, ContentBytes());
  EXPECT_EQ(report.planned_files, 300U);
  EXPECT_EQ(report.kept_files, 300U);
  EXPECT_EQ(report.kept_bytes, ContentBytes());
  EXPECT_EQ(RetainedOf(files_), 300U);
  EXPECT_LT(ahead_->seen().size(), 50U) << "neighbours come together";
  const size_t reads = ahead_->seen().size();
  for (const EntryNumber file : Shuffled(1)) ReadAsReader(file);
  EXPECT_TRUE(demand_->seen().empty());
  EXPECT_EQ(Count(Stat::kCorruptBlocks), 0U);
  // What is there is not read again.
  EXPECT_EQ(Warm(Shuffled(2)).kept_files, 300U);
  EXPECT_EQ(ahead_->seen().size(), reads);
}

// Also where the page cache has room for all, and where nothing can be pushed.
TEST_F(WarmTest, ThePageCacheIsNoPlaceForIt) {
  WriteFiles(100, 10'000);
  StartEngine({.retained_bytes = 8 << 20, .reusable_bytes = 64 << 20});
  for (const EntryNumber file : files_) mount_->LookUp(file);
  EXPECT_EQ(Warm(files_).kept_files, 100U);
  EXPECT_EQ(RetainedOf(files_), 100U);
  EXPECT_EQ(Count(Stat::kPushes), 0U);
}

TEST_F(WarmTest, OnlyTheseFilesEachOnce) {
  WriteFiles(300, 10'000);
  StartEngine({.retained_bytes = 8 << 20});
  const Order shuffled = Shuffled(3);
  Order wanted(shuffled.begin(), shuffled.begin() + 50);
  const Order rest(shuffled.begin() + 50, shuffled.end());
  wanted.insert(wanted.end(), wanted.begin(), wanted.begin() + 50);
  const WarmReport report = Warm(wanted);
  EXPECT_EQ(report.files, 50U);
  EXPECT_EQ(report.kept_files, 50U);
  EXPECT_EQ(RetainedOf(rest), 0U);
}

// The first of the order are kept, and the rest is said not to have fitted.
TEST_F(WarmTest, TheFirstOnesThatFit) {
  WriteFiles(600, 20'000);
  StartEngine({.retained_bytes = 4 << 20});
  const Order order = Shuffled(4);
  const WarmReport report = Warm(order);
  EXPECT_EQ(report.files, 600U);
  EXPECT_LT(report.planned_files, 600U);
  EXPECT_GT(report.kept_bytes, retained_cache_->bytes_max() / 4 * 3);
  const auto first = static_cast<std::ptrdiff_t>(report.planned_files);
  EXPECT_EQ(RetainedOf(Order(order.begin(), order.begin() + first)), report.kept_files);
  EXPECT_EQ(RetainedOf(Order(order.begin() + first, order.end())), 0U);
}

// What was read on demand, and has no use that is known, gives way.
TEST_F(WarmTest, FilesWithoutAUseGiveWay) {
  WriteFiles(600, 20'000);
  StartEngine({.retained_bytes = 4 << 20});
  const Order order = Shuffled(5);
  const Order wanted(order.begin(), order.begin() + 150);
  for (size_t i = 150; i < order.size(); ++i) ASSERT_TRUE(ReadThrough(order[i]).ok());
  ASSERT_GT(retained_cache_->used_bytes(), retained_cache_->bytes_max() / 10 * 9);
  const WarmReport report = Warm(wanted);
  EXPECT_EQ(report.kept_files, 150U) << report.planned_files;
  EXPECT_EQ(RetainedOf(wanted), report.kept_files);
}

TEST_F(WarmTest, ItEndsWhenItIsTold) {
  WriteFiles(300, 10'000);
  StartEngine({.retained_bytes = 8 << 20});
  ahead_->Hold();
  const uint64_t run = Begin(files_);
  EXPECT_TRUE(Now(run).running);
  EXPECT_EQ(prefetcher_->BeginWarm(std::make_shared<const Order>(files_)).status().code(), Code::kBusy);
  EXPECT_FALSE(Now(run, /*end=*/true).running);
  EXPECT_FALSE(Now(run).running);
  ahead_->Release();
  LetDecide();
  EXPECT_EQ(prefetcher_->Warmed(run, false).status().code(), Code::kStopped) << "it was dropped";
  EXPECT_EQ(Warm(files_).kept_files, 300U) << "another run may begin";
  EXPECT_EQ(prefetcher_->Warmed(run, false).status().code(), Code::kStopped);
}

TEST_F(WarmTest, ADropEndsIt) {
  WriteFiles(300, 10'000);
  StartEngine({.retained_bytes = 8 << 20});
  ahead_->Hold();
  const uint64_t run = Begin(files_);
  prefetcher_->Drop();
  EXPECT_EQ(prefetcher_->Warmed(run, false).status().code(), Code::kStopped);
  ahead_->Release();
}

TEST_F(WarmTest, FilesThatCannotBeReadAreCounted) {
  WriteFiles(100, 10'000);
  StartEngine({.retained_bytes = 8 << 20});
  ahead_->Damage(OffsetOf(files_[7]), OffsetOf(files_[7]) + 1);
  const WarmReport report = Warm(Order(files_.begin() + 7, files_.begin() + 8));
  EXPECT_EQ(report.unreadable_files, 1U);
  EXPECT_EQ(report.kept_files, 0U);
  // Who asks again has it read again.
  for (int i = 0; i < 2 * Staging::kTriesMax; ++i) {
    EXPECT_EQ(Warm(Order(files_.begin() + 7, files_.begin() + 8)).unreadable_files, 1U);
  }
  ahead_->Repair();
  EXPECT_EQ(Warm(Order(files_.begin() + 7, files_.begin() + 8)).kept_files, 1U);
}

TEST_F(WarmTest, WithoutARetainedCacheTheCureIsSaid) {
  WriteFiles(10, 10'000);
  StartEngine({});
  const Result<uint64_t> run = prefetcher_->BeginWarm(std::make_shared<const Order>(files_));
  EXPECT_EQ(run.status().code(), Code::kUnsupported);
  EXPECT_NE(run.status().text().find("cache=ram"), std::string::npos) << run.status().text();
}

// A reader follows an order, whose files have no place yet when the warming wants them.
TEST_F(WarmTest, WhileAnOrderIsFollowed) {
  WriteFiles(1000, 10'000);
  StartEngine({.push_window_bytes = 2 << 20, .retained_bytes = 16 << 20});
  const Order order = Shuffled(6);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  const uint64_t run = Begin(files_);
  EXPECT_TRUE(Follow(order));
  EXPECT_EQ(AtEnd(run).kept_files, 1000U);
  EXPECT_TRUE(demand_->seen().size() < 60U) << demand_->seen().size();
}

}  // namespace
}  // namespace augur
