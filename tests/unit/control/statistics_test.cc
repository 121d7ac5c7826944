// SPDX-License-Identifier: Apache-2.0
#include "control/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace augur {
namespace {

template <typename Table>
void CheckTable(const Table& table, std::set<std::string_view>& names) {
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(table[i].id), i) << table[i].name;
    EXPECT_THAT(std::string(table[i].name), testing::MatchesRegex("[a-z][a-z_]*"));
    EXPECT_TRUE(names.insert(table[i].name).second) << table[i].name << " comes twice";
    EXPECT_FALSE(table[i].unit.empty()) << table[i].name;
    EXPECT_FALSE(table[i].meaning.empty()) << table[i].name;
    // Texts of HELP lines: without what would have to be escaped there, and without a full stop of their own.
    for (const std::string_view text : {table[i].meaning, table[i].excludes}) {
      EXPECT_EQ(text.find_first_of("\\\n"), std::string_view::npos) << table[i].name;
      EXPECT_FALSE(text.ends_with('.')) << table[i].name;
    }
  }
}

TEST(StatisticsTest, EveryNumberIsDescribedOnceInItsPlace) {
  std::set<std::string_view> names;
  CheckTable(kStatDefinitions, names);
  CheckTable(kGaugeDefinitions, names);
  CheckTable(kHistogramDefinitions, names);
}

TEST(StatisticsTest, CountersGrowByThemselves) {
  Statistics statistics;
  statistics.Add(Stat::kReads, 2);
  statistics.Add(Stat::kReads, 3);
  statistics.Add(Stat::kPushes, 7);
  const StatisticsSnapshot snapshot = statistics.Snapshot();
  EXPECT_EQ(snapshot[Stat::kReads], 5u);
  EXPECT_EQ(snapshot[Stat::kPushes], 7u);
  EXPECT_EQ(snapshot[Stat::kMisses], 0u);
  EXPECT_EQ(statistics.Get(Stat::kReads), 5u);
}

TEST(StatisticsTest, GaugesAreSetMovedOrRead) {
  Statistics statistics;
  statistics.Set(Gauge::kRetainedCacheBytes, 10);
  statistics.Raise(Gauge::kReadsInFlight, 5);
  statistics.Lower(Gauge::kReadsInFlight, 4);
  uint64_t now = 42;
  statistics.Set(Gauge::kBufferBytes, 1);
  statistics.ReadFrom(Gauge::kBufferBytes, [&now] { return now; });
  EXPECT_EQ(statistics.Snapshot()[Gauge::kRetainedCacheBytes], 10u);
  EXPECT_EQ(statistics.Snapshot()[Gauge::kReadsInFlight], 1u);
  EXPECT_EQ(statistics.Snapshot()[Gauge::kBufferBytes], 42u);
  now = 43;
  EXPECT_EQ(statistics.Snapshot()[Gauge::kBufferBytes], 43u);
  statistics.ReadFrom(Gauge::kBufferBytes, nullptr);
  EXPECT_EQ(statistics.Snapshot()[Gauge::kBufferBytes], 1u);
}

// Bucket i is what is above 2^(i-1) and not above 2^i, checked against that sentence and not against the code.
TEST(HistogramTest, BucketsAreByPowersOfTwo) {
  std::vector<uint64_t> values = {0, 1, 2, 3, UINT64_MAX};
  for (int shift = 2; shift < 64; ++shift) {
    const uint64_t power = uint64_t{1} << shift;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  for (const uint64_t value : values) {
    const size_t bucket = HistogramCounts::BucketOf(value);
    ASSERT_LT(bucket, HistogramCounts::kBuckets);
    if (bucket < HistogramCounts::kFiniteBuckets) {
      EXPECT_LE(value, HistogramCounts::UpTo(bucket)) << value;
    }
    if (bucket > 0) {
      EXPECT_GT(value, HistogramCounts::UpTo(bucket - 1)) << value;
    }
  }
}

TEST(HistogramTest, CountsSumAndQuantiles) {
  Statistics statistics;
  EXPECT_EQ(statistics.Snapshot()[Histogram::kLeadTimeUs].Quantile(0.5), 0u);
  for (const uint64_t value : {3, 3, 100, 5000}) statistics.Record(Histogram::kLeadTimeUs, value);
  const StatisticsSnapshot snapshot = statistics.Snapshot();
  const HistogramCounts& counts = snapshot[Histogram::kLeadTimeUs];
  EXPECT_EQ(counts.total(), 4u);
  EXPECT_EQ(counts.sum, 5106u);
  EXPECT_EQ(counts.Quantile(0.5), 4u);     // two of four are 3
  EXPECT_EQ(counts.Quantile(0.51), 128u);  // the third is 100
  EXPECT_EQ(counts.Quantile(1), 8192u);    // the last is 5000
  statistics.Record(Histogram::kLeadTimeUs, UINT64_MAX / 2);
  EXPECT_EQ(statistics.Snapshot()[Histogram::kLeadTimeUs].Quantile(1), UINT64_MAX);
}

TEST(StatisticsTest, NothingIsLostAmongThreads) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kTimes = 20'000;
  Statistics statistics;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&statistics, i] {
      for (uint64_t n = 0; n < kTimes; ++n) {
        statistics.Add(Stat::kReads, 1);
        statistics.Record(Histogram::kLeadTimeUs, i);
        statistics.Raise(Gauge::kPushesWaiting, 2);
        statistics.Lower(Gauge::kPushesWaiting, 2);
        if (n % 1000 == 0) {
          statistics.ReadFrom(Gauge::kBufferBytes, [n] { return n; });
          EXPECT_LE(statistics.Snapshot()[Stat::kReads], kThreads * kTimes);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StatisticsSnapshot snapshot = statistics.Snapshot();
  EXPECT_EQ(snapshot[Stat::kReads], kThreads * kTimes);
  EXPECT_EQ(snapshot[Gauge::kPushesWaiting], 0u);
  EXPECT_EQ(snapshot[Histogram::kLeadTimeUs].total(), kThreads * kTimes);
  EXPECT_EQ(snapshot[Histogram::kLeadTimeUs].sum, (0 + 1 + 2 + 3) * kTimes);
}

TEST(StatisticsTest, CountersGoOnWhereTheyOutliveTheDaemon) {
  LastingStatistics lasting;
  {
    Statistics first(&lasting);
    first.Add(Stat::kReads, 5);
    first.Record(Histogram::kLeadTimeUs, 100);
    first.Raise(Gauge::kKernelInodes, 3);
    first.Raise(Gauge::kReadsInFlight, 2);
  }
  Statistics second(&lasting);
  second.Add(Stat::kReads, 1);
  second.Lower(Gauge::kKernelInodes, 1);
  StatisticsSnapshot snapshot = second.Snapshot();
  EXPECT_EQ(snapshot[Stat::kReads], 6U);
  EXPECT_EQ(snapshot[Histogram::kLeadTimeUs].total(), 1U);
  EXPECT_EQ(snapshot[Gauge::kKernelInodes], 2U);
  EXPECT_EQ(snapshot[Gauge::kReadsInFlight], 0U);
  // The first was killed between telling the kernel and counting.
  second.Lower(Gauge::kKernelInodes, 3);
  snapshot = second.Snapshot();
  EXPECT_EQ(snapshot[Gauge::kKernelInodes], 0U);
}

void Write(LastingStatistics::Name& name, std::string_view text) { text.copy(name.data(), name.size() - 1); }

// A daemon of another version has other numbers, in another order.
TEST(StatisticsTest, NumbersAreFoundByNameWhateverAnotherVersionHas) {
  LastingStatistics lasting;
  Write(lasting.counters[0].name, "of_another_version");
  lasting.counters[0].value = 7;
  Write(lasting.counters[1].name, "misses");
  lasting.counters[1].value = 8;
  Write(lasting.histograms[0].name, "decode_time_us");
  lasting.histograms[0].counts[3] = 9;
  Statistics statistics(&lasting);
  statistics.Add(Stat::kMisses, 1);
  const StatisticsSnapshot snapshot = statistics.Snapshot();
  for (size_t i = 0; i < kStatCount; ++i) EXPECT_EQ(snapshot.counters[i], Stat{i} == Stat::kMisses ? 9U : 0U);
  EXPECT_EQ(snapshot[Histogram::kDecodeTimeUs].counts[3], 9U);
  EXPECT_EQ(snapshot[Histogram::kLeadTimeUs].total(), 0U);
  EXPECT_EQ(lasting.counters[0].value, 7U);  // for when that version goes on again
}

TEST(StatisticsTest, WithoutRoomNumbersBeginAnew) {
  LastingStatistics lasting;
  for (size_t i = 0; i < lasting.counters.size(); ++i) Write(lasting.counters[i].name, "other" + std::to_string(i));
  for (int daemon = 0; daemon < 2; ++daemon) {
    Statistics statistics(&lasting);
    statistics.Add(Stat::kReads, 3);
    EXPECT_EQ(statistics.Get(Stat::kReads), 3U);
    EXPECT_EQ(statistics.Get(Stat::kMisses), 0U);
  }
  for (const LastingStatistics::Counter& counter : lasting.counters) EXPECT_EQ(counter.value, 0U);
}

TEST(StatisticsTest, TwoVersionsHaveRoom) {
  EXPECT_LE(2 * kStatCount, LastingStatistics::kCountersMax);
  EXPECT_LE(2 * kHistogramCount, LastingStatistics::kHistogramsMax);
}

}  // namespace
}  // namespace augur
