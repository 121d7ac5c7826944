// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// Views that show each file as it is, under names of their own.
class PlainViews final : public ViewSource {
 public:
  explicit PlainViews(const std::string& store_path) : store_(*Store::Open(store_path, {})) {}
  uint32_t RootView() const override { return 0; }
  std::string SpecOf(uint32_t view) const override { return view == 0 ? "" : "view " + std::to_string(view); }
  Result<ShownFile> Show(uint32_t view, EntryNumber file) const override {
    AUGUR_TRY_ASSIGN(entry, store_->Get(file));
    return ShownFile::Original(entry, view);
  }
  bool HasMade(const ShownFile& /*file*/) const override { return false; }
  void MakeAhead(const ShownFile& /*file*/, std::vector<BlockRef> /*record*/, std::shared_ptr<const Buffer> /*memory*/,
                 Made /*made*/) override {
    ADD_FAILURE() << "nothing is made here";
  }

 private:
  const std::shared_ptr<const Store> store_;
};

// A pass in one view ends when another is read: nothing is foreseen of that, and what is read of it is kept.
TEST_F(PrefetchEngineTest, AnotherViewBeginsWithNothingForeseen) {
  WriteFiles(1000, 10'000);
  PlainViews views(store_path());
  StartEngine({.stock_bytes = 2 << 20, .kept_bytes = 4 << 20, .views = &views});
  for (size_t i = 0; i < 100; ++i) ReadAsReader(files_[i]);
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) > 0; })) << Told();
  const Order other = Shuffled(1);
  for (const EntryNumber file : other) prefetcher_->OnRead(*views.Show(1, file), 0);
  EXPECT_TRUE(WaitUntil([&] { return mount_->shown() == 1; })) << Told();
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << Told();
  EXPECT_EQ(GaugeNow(Gauge::kOrderFiles), 0U);
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kStockedBytes) == 0; })) << Told();
  warehouse_->Clear();
  const ShownFile file = *views.Show(1, other.front());
  prefetcher_->OnLoaded(file, 0, std::as_bytes(std::span(Content(other.front()))));
  EXPECT_TRUE(warehouse_->Contains(file.KeyOf(0)));
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
    for (const EntryNumber file : Shuffled(round)) prefetcher_->OnRead(*views.Show(1 - shown, file), 0);
    for (int i = 0; i < 80; ++i) prefetcher_->OnRead(*views.Show(shown, files_[0]), 0);
    EXPECT_TRUE(WaitUntil([&] { return mount_->shown() == shown; })) << Told();
  }
  StopEngine();
}

}  // namespace
}  // namespace augur
