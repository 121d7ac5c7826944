// SPDX-License-Identifier: Apache-2.0
// Why a READ of a predicted file was not served by the page cache: each cause that the planner tells apart.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "base/check.h"
#include "planner_parts.h"
#include "prefetch/planner.h"

namespace augur {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint32_t kFiles = 4000;
constexpr EntryNumber kLong = 30;  // this file is too long to be read ahead

FilePlace Place(EntryNumber file) {
  FilePlace place = PlannerParts::Place(file);
  if (file == kLong) place.bytes = place.record_bytes = 20 * kMiB;
  return place;
}

// A planner that has been given an order, and has begun nothing.
class MissCauseTest : public testing::Test {
 protected:
  MissCauseTest() {
    Order order(kFiles);
    std::iota(order.begin(), order.end(), 0U);
    planner_.Append(Shared(order));
  }

  MissCause Read(EntryNumber file) { return planner_.OnAccess(file, /*missed=*/true, now_us_ += 1000); }
  // The first read, which is under way from now on. It has two files at least.
  ReadPlan Begin() {
    ReadPlan read = planner_.NextRead(now_us_).value_or(ReadPlan());
    AUGUR_CHECK(read.items.size() >= 2);
    return read;
  }
  void Bring(const ReadPlan& read, bool ok = true) {
    planner_.Ended(read, now_us_ += 1000, /*asked=*/true);
    for (const ReadPlan::Item& item : read.items) planner_.Arrived(item, ok);
  }
  // All that can be pushed now.
  void Push() {
    while (true) {
      const std::optional<PushPlan> push = planner_.NextPush();
      if (!push) return;
      planner_.Pushed(push->file, PushOutcome::kPushed);
    }
  }

  DiskModel disk_;
  Planner planner_{
      Place, disk_, {.staging_bytes_max = 100 * kMiB, .push_window_bytes_max = 400 * kMiB, .sentinel_every = 0}, {}};
  uint64_t now_us_ = 0;
};

TEST_F(MissCauseTest, OpensAndFilesOfNoOrderHaveNone) {
  EXPECT_EQ(planner_.OnAccess(0, /*missed=*/false, 1), MissCause::kNone);
  EXPECT_EQ(Read(kFiles + 1), MissCause::kNone);
  EXPECT_EQ(Read(3000), MissCause::kNone) << "the reader is not near it";
}

TEST_F(MissCauseTest, AReadThatIsNotBegunOrUnderWay) {
  EXPECT_EQ(Read(0), MissCause::kNotBegun);
  const ReadPlan read = Begin();
  EXPECT_EQ(Read(read.items.front().file), MissCause::kUnderWay);
}

TEST_F(MissCauseTest, AFileThatCannotBeReadIsNotBegun) {
  const ReadPlan read = Begin();
  Bring(read, /*ok=*/false);
  EXPECT_EQ(Read(read.items.front().file), MissCause::kNotBegun);
}

TEST_F(MissCauseTest, WhatIsInMemoryAndNotPushed) {
  const ReadPlan read = Begin();
  Bring(read);
  EXPECT_EQ(Read(read.items.front().file), MissCause::kNotPushed);
}

TEST_F(MissCauseTest, PagesThatTheKernelHasTakenCountOnce) {
  const ReadPlan read = Begin();
  Bring(read);
  Push();
  const EntryNumber file = read.items.front().file;
  EXPECT_EQ(planner_.OnAccess(file, /*missed=*/false, ++now_us_), MissCause::kNone) << "its open";
  EXPECT_EQ(Read(file), MissCause::kReclaimed);
  EXPECT_EQ(Read(file), MissCause::kNone) << "this READ wants what the one before brings";
  EXPECT_EQ(Read(read.items[1].file), MissCause::kReclaimed);
}

TEST_F(MissCauseTest, ALongFileIsNeverReadAhead) {
  for (EntryNumber file = 0; file < kLong; ++file) Read(file);
  EXPECT_EQ(Read(kLong), MissCause::kTooLong);
}

TEST_F(MissCauseTest, ASentinelIsMissedOnPurpose) {
  planner_.SetObservation(/*sentinel_every=*/2, {});
  EXPECT_EQ(Read(0), MissCause::kNotBegun);
  EXPECT_EQ(Read(1), MissCause::kSentinel);
}

}  // namespace
}  // namespace augur
