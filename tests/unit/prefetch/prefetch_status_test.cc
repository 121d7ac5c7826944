// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetch_status.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace augur {
namespace {

class PrefetchStatusTest : public ::testing::Test {
 protected:
  std::map<std::string, std::string> Facts() const {
    const auto facts = status_.Facts();
    return {facts.begin(), facts.end()};
  }

  Statistics statistics_;
  PrefetchStatus status_{statistics_};
  DiskModel disk_;
};

TEST_F(PrefetchStatusTest, BeforeAnythingIsKnown) {
  EXPECT_EQ(Facts(), (std::map<std::string, std::string>{{"policy", "idle"}, {"progress", "none"}}));
}

TEST_F(PrefetchStatusTest, ThePolicyIsThatOfThePlanner) {
  status_.SetView("size=224");
  status_.SetProgress("opens");
  status_.Publish({.filling = true}, disk_);
  EXPECT_EQ(Facts(),
            (std::map<std::string, std::string>{{"policy", "fill"}, {"progress", "opens"}, {"view", "size=224"}}));
  status_.Publish({.filling = true, .planner = {.epochs_queued = 1}}, disk_);
  EXPECT_EQ(Facts()["policy"], "window");
  status_.Publish({.planner = {.epochs_queued = 1, .in_regions = true}}, disk_);
  EXPECT_EQ(Facts()["policy"], "regions");
  status_.Publish({}, disk_);
  EXPECT_EQ(Facts()["policy"], "idle");
}

// The gauge has the reads of others, too.
TEST_F(PrefetchStatusTest, ReadsAreAddedToThoseOfOthers) {
  statistics_.Raise(Gauge::kReadsInFlight, 5);
  status_.Publish({.batch_reads = 3}, disk_);
  EXPECT_EQ(statistics_.Snapshot()[Gauge::kReadsInFlight], 8U);
  status_.Publish({.batch_reads = 1}, disk_);
  EXPECT_EQ(statistics_.Snapshot()[Gauge::kReadsInFlight], 6U);
  status_.Publish({}, disk_);
  EXPECT_EQ(statistics_.Snapshot()[Gauge::kReadsInFlight], 5U);
}

}  // namespace
}  // namespace augur
