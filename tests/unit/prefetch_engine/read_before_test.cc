// SPDX-License-Identifier: Apache-2.0
// What was read before anything was predicted lies in the page cache, and is not brought there again.
#include <algorithm>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

constexpr uint64_t kAll = 64 << 20;

class ReadBeforeTest : public PrefetchEngineTest {
 protected:
  // An epoch in no known order, and then the order of the next.
  Order ReadOneAndPredict() {
    for (const EntryNumber file : Shuffled(1)) EXPECT_FALSE(ReadAsReader(file));
    return Shuffled(2);
  }

  // Until what there is to be done for an order that has just come is begun.
  void Predict(const Order& order) {
    ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
    ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 1; })) << DescribeState();
  }
};

TEST_F(ReadBeforeTest, IsNotReadAndPushedAgain) {
  WriteFiles(300, 60'000);
  StartEngine({.reusable_bytes = kAll});
  const Order order = ReadOneAndPredict();
  Predict(order);
  EXPECT_GE(GaugeNow(Gauge::kPageCacheLeftBytes), ContentBytes());
  for (const EntryNumber file : order) EXPECT_TRUE(ReadAsReader(file)) << file;
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; })) << DescribeState();
  EXPECT_TRUE(ahead_->seen().empty()) << ahead_->seen().size();
  EXPECT_EQ(mount_->counts().pushes, 0U);
}

// The machine has room for a third of it beside the window: the rest is taken for not being there.
TEST_F(ReadBeforeTest, AsFarAsThereIsRoomForIt) {
  WriteFiles(300, 60'000);
  StartEngine({.reusable_bytes = 3 << 20});
  const Order order = ReadOneAndPredict();
  Predict(order);
  const uint64_t left = GaugeNow(Gauge::kPageCacheLeftBytes);
  EXPECT_LE(left, uint64_t{3} << 20);
  EXPECT_GE(left, uint64_t{2} << 20);
  for (size_t i = 0; i < 100; ++i) EXPECT_TRUE(ReadAsReader(order[i])) << i;
  EXPECT_TRUE(WaitUntil([&] { return mount_->counts().pushes > 0; })) << DescribeState();
}

// Who looks at the headers only (imagesize, a check before the training) has brought no file as a whole.
TEST_F(ReadBeforeTest, NotWhereOnlyHeadersWereRead) {
  WriteFiles(300, 60'000);
  StartEngine({.reusable_bytes = kAll});
  for (const EntryNumber file : Shuffled(1)) {
    mount_->LookUp(file);
    ASSERT_TRUE(ReadNow(Node{.view = 0, .entry = file}.id(), 0, std::min<size_t>(1024, Content(file).size() - 1)).ok());
  }
  const Order order = Shuffled(2);
  Predict(order);
  EXPECT_TRUE(Follow(order));
}

// The kernel has taken all of it meanwhile: after a few READs nothing is taken for being there.
TEST_F(ReadBeforeTest, NotWhereItIsGone) {
  WriteFiles(300, 60'000);
  StartEngine({.reusable_bytes = kAll});
  const Order order = ReadOneAndPredict();
  mount_->ReclaimAll();
  Predict(order);
  constexpr size_t kFew = 20;
  for (size_t i = 0; i < kFew; ++i) ReadAsReader(order[i]);
  EXPECT_TRUE(Follow(Order(order.begin() + kFew, order.end())));
}

// 'augurctl drop' is for who wants nothing to be there.
TEST_F(ReadBeforeTest, NotAfterADrop) {
  WriteFiles(300, 60'000);
  StartEngine({.reusable_bytes = kAll});
  const Order order = ReadOneAndPredict();
  prefetcher_->Drop();
  mount_->ReclaimAll();
  Predict(order);
  EXPECT_TRUE(Follow(order));
}

}  // namespace
}  // namespace augur
