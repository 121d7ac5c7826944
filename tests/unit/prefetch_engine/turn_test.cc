// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>

#include "unit/datasets/shared_order.h"
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// Views that show each file as it is, under names of their own.
class PlainViews final : public ViewSource {
 public:
  explicit PlainViews(const std::string& store_path) : store_(*Store::Open(store_path, {})) {}
  uint32_t RootView() const override { return 0; }
  std::string SpecOf(uint32_t view) const override { return view == 0 ? "" : "view " + std::to_string(view); }
  const ArchivedFiles* Archived(uint32_t /*view*/) const override { return nullptr; }
  Result<ViewFile> FileInView(uint32_t view, EntryNumber file) const override {
    AUGUR_TRY_ASSIGN(entry, store_->Get(file));
    return ViewFile::Original(entry, view);
  }
  bool HasRendered(const ViewFile& /*file*/) const override { return false; }
  void RenderAhead(const ViewFile& /*file*/, std::vector<BlockRef> /*record*/,
                   std::shared_ptr<SealableBuffer> /*memory*/, RenderEnded /*ended*/) override {
    ADD_FAILURE() << "nothing is rendered here";
  }

 private:
  const std::shared_ptr<const Store> store_;
};

// A pass in one view ends when another is read: nothing is predicted of that, and what is read of it is kept.
TEST_F(PrefetchEngineTest, AnotherViewBeginsWithNothingPredicted) {
  WriteFiles(1000, 10'000);
  PlainViews views(store_path());
  StartEngine({.push_window_bytes = 2 << 20, .retained_bytes = 4 << 20, .views = &views});
  for (size_t i = 0; i < 100; ++i) ReadAsReader(files_[i]);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) > 0; })) << DescribeState();
  const Order other = Shuffled(1);
  for (const EntryNumber file : other) prefetcher_->OnRead(*views.FileInView(1, file), 0);
  EXPECT_TRUE(WaitUntil([&] { return mount_->selected() == 1; })) << DescribeState();
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_EQ(GaugeNow(Gauge::kOrderFiles), 0U);
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPushWindowBytes) == 0; })) << DescribeState();
  retained_cache_->Clear();
  const ViewFile file = *views.FileInView(1, other.front());
  prefetcher_->OnLoaded(file, 0, std::as_bytes(std::span(Content(other.front()))));
  EXPECT_TRUE(retained_->Find(file, 0).has_value());
  StopEngine();  // before the views
}

// The same when it is read in the moment in which an order ends, so that nothing of that is left to take along.
TEST_F(PrefetchEngineTest, AnotherViewWhenTheOrderHasEnded) {
  WriteFiles(40, 10'000);
  PlainViews views(store_path());
  StartEngine({.views = &views});
  for (uint64_t round = 1; round <= 20; ++round) {
    const auto shown = static_cast<uint32_t>(round % 2);
    ASSERT_TRUE(prefetcher_->AddOrder(Shuffled(round), kBehind).ok());
    for (const EntryNumber file : Shuffled(round)) prefetcher_->OnRead(*views.FileInView(1 - shown, file), 0);
    for (int i = 0; i < 80; ++i) prefetcher_->OnRead(*views.FileInView(shown, files_[0]), 0);
    EXPECT_TRUE(WaitUntil([&] { return mount_->selected() == shown; })) << DescribeState();
  }
  StopEngine();
}

// Half of the files are read in one view and half in another, in turns, as training and validation are.
class TurnsTest : public PrefetchEngineTest {
 protected:
  void Start(uint64_t reusable_bytes, uint64_t push_window_bytes = 32 << 20) {
    WriteFiles(400, 60'000);
    views_ = std::make_unique<PlainViews>(store_path());
    StartEngine({.push_window_bytes = push_window_bytes, .reusable_bytes = reusable_bytes, .views = views_.get()});
  }
  void TearDown() override { StopEngine(); }  // before the views

  Order FilesOf(uint32_t view, uint64_t seed) const {
    const auto middle = files_.begin() + static_cast<std::ptrdiff_t>(files_.size() / 2);
    Order order = view == 0 ? Order(files_.begin(), middle) : Order(middle, files_.end());
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }
  // Opens and reads a file of the view; whether it was in the page cache.
  bool Read(uint32_t view, EntryNumber file) {
    mount_->LookUp(file);
    const std::vector<EntryNumber> opened = {file};
    prefetcher_->OnOpened(view, opened);
    if (mount_->Pages(file)) return true;
    prefetcher_->OnRead(*views_->FileInView(view, file), 0);
    prefetcher_->OnReadToEnd(*views_->FileInView(view, file));
    mount_->Brought(file, Content(file));
    return false;
  }
  void ReadAll(uint32_t view, uint64_t seed) {
    for (const EntryNumber file : FilesOf(view, seed)) (void)Read(view, file);
    EXPECT_TRUE(WaitUntil([&] { return mount_->selected() == view; })) << DescribeState();
  }

  std::unique_ptr<PlainViews> views_;
  std::atomic<bool> turns_ = false;
};

TEST_F(TurnsTest, WhatTheOtherViewHasInThePageCacheStaysWhereThereIsRoomForBoth) {
  Start(64 << 20);
  ReadAll(0, 1);
  ReadAll(1, 2);
  for (uint64_t round = 3; round < 6; ++round) {
    for (const uint32_t view : {0U, 1U}) {
      for (const EntryNumber file : FilesOf(view, round)) EXPECT_TRUE(Read(view, file)) << view << ' ' << file;
      // Its first reads have made it the one that is followed; what is predicted of it is there already.
      ASSERT_TRUE(WaitUntil([&] { return mount_->selected() == view; })) << DescribeState();
      const Order next = FilesOf(view, 10 + round);
      prefetcher_->Predict(Shared(next), view, true);
      EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; })) << DescribeState();
      for (const EntryNumber file : next) EXPECT_TRUE(Read(view, file)) << view << ' ' << file;
    }
  }
  EXPECT_EQ(mount_->counts().pushes, 0U);
  EXPECT_TRUE(mount_->dropped().empty());
}

TEST_F(TurnsTest, WhereThereIsRoomForOneOnlyItGoes) {
  Start(16 << 20);  // of 12 MB
  ReadAll(0, 1);
  prefetcher_->Predict(Shared(FilesOf(0, 2)), 0, true);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPageCacheLeftBytes) > 0; })) << DescribeState();
  ReadAll(1, 3);
  EXPECT_TRUE(WaitUntil([&] { return mount_->dropped().size() >= 200; })) << DescribeState();
}

// While files are dropped, others of that view are read, and are in the page cache then: as many each time.
TEST_F(TurnsTest, AReaderOfTheViewThatIsLeftDoesNotHoldUpTheTurn) {
  constexpr size_t kReadsEachTime = 20;
  Start(0, /*push_window_bytes=*/2 << 20);
  const Order order = FilesOf(0, 1);
  mount_->SetOnDrop([this, order](std::span<const EntryNumber> dropped) {
    size_t reads = 0;
    for (const EntryNumber file : order) {
      if (!turns_ || reads == kReadsEachTime) return;
      if (std::ranges::find(dropped, file) != dropped.end()) continue;
      prefetcher_->OnRead(*views_->FileInView(0, file), 0);
      ++reads;
    }
  });
  prefetcher_->Predict(Shared(order), 0, true);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; })) << DescribeState();
  for (const EntryNumber file : order) (void)Read(0, file);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kPushWindowBytes) > 0; })) << DescribeState();
  turns_ = true;
  ReadAll(1, 2);
  EXPECT_LE(mount_->dropped().size(), 2 * order.size()) << "each once while the order was read, and once now";
}

// The order of the other view waits, and is followed when that of this one has been read to its end.
TEST_F(TurnsTest, WhatIsPredictedOfAnotherViewComesWhenItsTurnHasCome) {
  Start(64 << 20);
  const Order first = FilesOf(0, 1);
  const Order second = FilesOf(1, 2);
  const Order third = FilesOf(0, 3);
  for (const EntryNumber file : files_) mount_->LookUp(file);
  prefetcher_->Predict(Shared(first), 0, true);
  prefetcher_->Predict(Shared(second), 1, false);
  prefetcher_->Predict(Shared(third), 0, false);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; })) << DescribeState();
  for (const EntryNumber file : first) (void)Read(0, file);
  ASSERT_TRUE(WaitUntil([&] { return mount_->selected() == 1; })) << DescribeState();
  for (const EntryNumber file : second) ASSERT_TRUE(WaitPushed(file)) << DescribeState();
  for (const EntryNumber file : second) EXPECT_TRUE(Read(1, file)) << file;
  EXPECT_TRUE(WaitUntil([&] { return mount_->selected() == 0; })) << DescribeState();
  for (const EntryNumber file : third) EXPECT_TRUE(Read(0, file)) << file;
  EXPECT_TRUE(mount_->dropped().empty());
}

TEST_F(TurnsTest, WhatIsPredictedNoLongerDoesNotCome) {
  Start(64 << 20);
  const Order first = FilesOf(0, 1);
  for (const EntryNumber file : files_) mount_->LookUp(file);
  prefetcher_->Predict(Shared(first), 0, true);
  prefetcher_->Predict(Shared(FilesOf(1, 2)), 1, false);
  prefetcher_->Predict(Shared(first), 0, true);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; })) << DescribeState();
  for (const EntryNumber file : first) (void)Read(0, file);
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_EQ(mount_->selected(), 0U);
}

}  // namespace
}  // namespace augur
