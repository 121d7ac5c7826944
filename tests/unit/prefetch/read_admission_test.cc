// SPDX-License-Identifier: Apache-2.0
// Where a file goes whose reader has asked for it before it came.
#include "prefetch/read_admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "planner_parts.h"
#include "prefetch/planner.h"

namespace augur {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A planner whose first read is under way, of files that are rendered from their records, or not.
class ReadAdmissionTest : public testing::TestWithParam<bool> {
 protected:
  static FilePlace Place(EntryNumber file) {
    FilePlace place = PlannerParts::Place(file);
    place.rendered = GetParam();
    return place;
  }

  void SetUp() override {
    Order order(4000);
    std::iota(order.begin(), order.end(), 0U);
    planner_.Append(Shared(order));
    const std::optional<ReadPlan> read = planner_.NextRead(1);
    ASSERT_TRUE(read.has_value());
    item_ = read->items.front();
    planner_.Ended(*read, 2, /*asked=*/true);
  }

  DiskModel disk_;
  Planner planner_{Place, disk_, {.staging_bytes_max = 100 * kMiB, .push_window_bytes_max = 400 * kMiB}, {}};
  ReadPlan::Item item_;
};

// The kernel reads a large file in several requests, and the first of them has waited for the file to be rendered.
TEST_P(ReadAdmissionTest, WhatIsMadeWaitsForTheOtherReadsOfItsFile) {
  planner_.OnAccess(item_.file, /*missed=*/true, 3);
  EXPECT_EQ(planner_.Arrived(item_, true).hold, GetParam());
  std::vector<EntryNumber> released = planner_.TakeReleased();
  EXPECT_TRUE(released.empty());
  const uint32_t lag = ReaderPositionOptions().lag;
  for (EntryNumber file = item_.file + 1; file <= item_.file + 2 * lag; ++file) planner_.OnAccess(file, true, 4);
  released = planner_.TakeReleased();
  EXPECT_EQ(std::ranges::count(released, item_.file), GetParam() ? 1 : 0) << "its reader is done with it";
}

TEST_P(ReadAdmissionTest, WhatNobodyHasReadWaitsToBePushed) {
  const Arrival arrival = planner_.Arrived(item_, true);
  EXPECT_TRUE(arrival.hold);
  EXPECT_FALSE(arrival.copy);
}

INSTANTIATE_TEST_SUITE_P(Files, ReadAdmissionTest, testing::Bool(),
                         [](const auto& rendered) { return rendered.param ? "Rendered" : "Records"; });

}  // namespace
}  // namespace augur
