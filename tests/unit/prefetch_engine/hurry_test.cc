// SPDX-License-Identifier: Apache-2.0
// A READ of a file that is being read ahead: the source is told which of its reads somebody waits for.
#include <map>
#include <set>

#include "base/mutex.h"
#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// Passes everything on, and remembers which ranges were asked for with which tag, and what was to be hurried.
class RememberingShards final : public ShardSource {
 public:
  explicit RememberingShards(std::unique_ptr<ShardSource> shards) : shards_(std::move(shards)) {}

  void Read(ShardRead read) override {
    if (read.tag != nullptr) {
      const MutexLock lock(mu_);
      ranges_[read.tag] = {read.offset, read.offset + read.bytes};
    }
    shards_->Read(std::move(read));
  }
  void Hurry(const void* tag) override {
    {
      const MutexLock lock(mu_);
      hurried_.insert(tag);
    }
    shards_->Hurry(tag);
  }
  void Drain() override { shards_->Drain(); }

  // Whether a read that brings these bytes was to be hurried; of several, each.
  bool WasHurried(uint64_t begin, uint64_t end) const {
    const MutexLock lock(mu_);
    bool any = false;
    for (const auto& [tag, range] : ranges_) {
      if (begin < range.first || end > range.second) continue;
      if (!hurried_.contains(tag)) return false;
      any = true;
    }
    return any;
  }
  size_t hurried() const {
    const MutexLock lock(mu_);
    return hurried_.size();
  }

 private:
  const std::unique_ptr<ShardSource> shards_;
  mutable Mutex mu_;
  std::map<const void*, std::pair<uint64_t, uint64_t>> ranges_ AUGUR_GUARDED_BY(mu_);
  std::set<const void*> hurried_ AUGUR_GUARDED_BY(mu_);
};

TEST_F(PrefetchEngineTest, TheSourceHearsThatAReaderWaits) {
  WriteFiles(60, 40'000);
  RememberingShards* shards = nullptr;
  StartEngine({.wrap_ahead = [&](std::unique_ptr<ShardSource> ahead) {
    auto made = std::make_unique<RememberingShards>(std::move(ahead));
    shards = made.get();
    return made;
  }});
  const Order order = Shuffled(1);
  ahead_->Hold();
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(WaitUntilHeld(*ahead_, order[0]));
  EXPECT_EQ(shards->hurried(), 0U) << "nobody waits yet";
  auto bytes = std::async(std::launch::async, [&] { return ReadThrough(order[0]); });
  const uint64_t begin = OffsetOf(order[0]);
  EXPECT_TRUE(WaitUntil([&] { return shards->WasHurried(begin, begin + Content(order[0]).size()); }));
  ahead_->Release();
  const Result<std::string> got = bytes.get();
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_TRUE(*got == Content(order[0]));
}

// The READ takes the bytes that the prefetch has asked for. They are not pushed any more, and not wasted either.
TEST_F(PrefetchEngineTest, AReadThatAReaderWaitsForIsNotWasted) {
  WriteFiles(60, 40'000);
  StartEngine({});
  const Order order = Shuffled(1);
  ahead_->Hold();
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(WaitUntilHeld(*ahead_, order[0]));
  auto bytes = std::async(std::launch::async, [&] { return ReadThrough(order[0]); });
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kStalls) == 1; })) << DescribeState();
  ahead_->Release();
  const Result<std::string> got = bytes.get();
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_TRUE(*got == Content(order[0]));
  ASSERT_TRUE(WaitPushed(order.back())) << DescribeState();
  ASSERT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kReadsInFlight) == 0; })) << DescribeState();
  EXPECT_EQ(Count(Stat::kWastedBytes), 0U) << DescribeState();
}

}  // namespace
}  // namespace augur
