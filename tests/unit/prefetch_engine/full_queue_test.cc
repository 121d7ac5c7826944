// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// While the planning thread takes nothing, reads and opens beyond the maximum are dropped and counted. An order is not,
// and is followed as soon as that thread takes it.
TEST_F(PrefetchEngineTest, AccessesBeyondTheMaximumAreDropped) {
  WriteFiles(300, 10'000);
  StartEngine({.accesses_max = 100, .start = false});
  for (size_t i = 0; i < 90; ++i) prefetcher_->OnOpened(0, {&files_[i], 1});
  EXPECT_EQ(Count(Stat::kPrefetchAccessesDropped), 0U);
  prefetcher_->OnOpened(0, {files_.data(), 20});  // one list is taken as a whole
  EXPECT_EQ(Count(Stat::kPrefetchAccessesDropped), 0U);
  prefetcher_->OnOpened(0, {files_.data(), 20});
  EXPECT_EQ(Count(Stat::kPrefetchAccessesDropped), 20U);
  ASSERT_TRUE(ReadThrough(files_[200]).ok());
  const uint64_t of_reads = Count(Stat::kPrefetchAccessesDropped);
  EXPECT_GT(of_reads, 20U);
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  EXPECT_EQ(Count(Stat::kPrefetchAccessesDropped), of_reads);
  ASSERT_TRUE(prefetcher_->Start(mount_.get(), mount_.get(), nullptr).ok());
  EXPECT_TRUE(Follow(order));
}

}  // namespace
}  // namespace augur
