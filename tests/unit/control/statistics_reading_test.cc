// SPDX-License-Identifier: Apache-2.0
#include "control/statistics_reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "control/order_report.h"
#include "control/statistics.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ParseStatistics, IsTheOtherWayOfRenderJson) {
  Statistics statistics;
  uint64_t next = 1;
  for (const StatDefinition& row : kStatDefinitions) statistics.Add(row.id, next++);
  for (const GaugeDefinition& row : kGaugeDefinitions) statistics.Set(row.id, next++);
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{1000}, uint64_t{1} << 40}) {
    statistics.Record(Histogram::kDecodeTimeUs, value);
  }
  const StatisticsSnapshot before = statistics.Snapshot();
  const Result<StatisticsReading> read = ParseStatistics(RenderJson({{"store", "/s"}, {"log", "a\nb"}}, before));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->numbers.counters, before.counters);
  EXPECT_EQ(read->numbers.gauges, before.gauges);
  const HistogramCounts& counts = read->numbers[Histogram::kDecodeTimeUs];
  EXPECT_EQ(counts.counts, before[Histogram::kDecodeTimeUs].counts);
  EXPECT_EQ(counts.sum, before[Histogram::kDecodeTimeUs].sum);
  EXPECT_EQ(read->Fact("store"), "/s");
  EXPECT_EQ(read->Fact("log"), "a\nb");
  EXPECT_EQ(read->Fact("hint"), "");
}

TEST(ParseStatistics, TakesThoseOfAnotherVersionAndRefusesAllElse) {
  const Result<StatisticsReading> other = ParseStatistics(
      R"({"mount": {"store": 7}, "counters": {"reads": 5, "of_tomorrow": 1, "opens": "x"}, "gauges": 3,
          "histograms": {"decode_time_us": {"sum": -1, "buckets": [7, {"count": 2}]}}})");
  ASSERT_TRUE(other.ok()) << other.status().text();
  EXPECT_EQ(other->numbers[Stat::kReads], 5u);
  EXPECT_EQ(other->numbers[Stat::kOpens], 0u);
  EXPECT_EQ(other->numbers[Histogram::kDecodeTimeUs].total(), 2u);
  EXPECT_THAT(other->facts, IsEmpty());
  for (const char* text : {"", "[]", "{}", "mountpoint  /mnt", "{\"counters\":"}) {
    const Result<StatisticsReading> refused = ParseStatistics(text);
    EXPECT_EQ(refused.status().code(), Code::kCorrupt) << text;
    EXPECT_THAT(refused.status().text(), HasSubstr("use the augurctl that came with it"));
  }
}

TEST(ParseOrders, IsTheOtherWayOfRenderOrders) {
  const std::vector<OrderReport> before = {
      {.job = 3,
       .state = OrderReport::State::kKnown,
       .since = 1'700'000'000,
       .text = "a \"b\"",
       .files = 9,
       .script = 4711},
      {.job = 4, .state = OrderReport::State::kSought, .since = 0, .text = "too few"},
      {.job = 0, .state = OrderReport::State::kNotSought, .since = 0, .text = "hot"},
      {.job = 0, .state = OrderReport::State::kEnded, .since = 0, .text = "over"}};
  const std::vector<OrderReport> after = ParseOrders(RenderOrders(before));
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].job, before[i].job);
    EXPECT_EQ(after[i].state, before[i].state);
    EXPECT_EQ(after[i].since, before[i].since);
    EXPECT_EQ(after[i].text, before[i].text);
    EXPECT_EQ(after[i].files, before[i].files);
    EXPECT_EQ(after[i].script, before[i].script);
  }
  EXPECT_THAT(ParseOrders("no jobs"), IsEmpty());
  EXPECT_THAT(ParseOrders("{}"), IsEmpty());
}

}  // namespace
}  // namespace augur
