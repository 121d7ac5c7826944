// SPDX-License-Identifier: Apache-2.0
#include "control/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

namespace augur {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

StatisticsSnapshot SomeNumbers() {
  Statistics statistics;
  statistics.Add(Stat::kReads, 17);
  statistics.Add(Stat::kReadBytes, 3 << 20);
  statistics.Set(Gauge::kOrderPosition, 5);
  for (const uint64_t value : {1, 3, 4, 1000}) statistics.Record(Histogram::kLeadTimeUs, value);
  statistics.Record(Histogram::kLeadTimeUs, UINT64_MAX >> 1);
  return statistics.Snapshot();
}

TEST(RenderTest, JsonHasEveryNumber) {
  const std::string text = RenderJson({{"store", "/data/\xff"}, {"generation", "3"}}, SomeNumbers());
  const json parsed = json::parse(text, nullptr, false);
  ASSERT_TRUE(parsed.is_object()) << text;
  EXPECT_EQ(parsed["mount"]["generation"], "3");
  EXPECT_EQ(parsed["mount"]["store"], "/data/\xef\xbf\xbd");  // U+FFFD
  EXPECT_EQ(parsed["counters"].size(), kStatCount);
  EXPECT_EQ(parsed["gauges"].size(), kGaugeCount);
  EXPECT_EQ(parsed["counters"]["reads"], 17);
  EXPECT_EQ(parsed["gauges"]["order_position"], 5);
  const json& lead = parsed["histograms"]["lead_time_us"];
  EXPECT_EQ(lead["count"], 5);
  // 1; 3 and 4; 1000; and what is over every bound.
  EXPECT_EQ(lead["buckets"], json::parse(R"([{"le":1,"count":1},{"le":4,"count":2},{"le":1024,"count":1},
                                              {"le":null,"count":1}])"));
}

TEST(RenderTest, TableIsForPeople) {
  const std::string text = RenderTable({{"store", "/data/a\nb"}}, SomeNumbers());
  EXPECT_THAT(text, HasSubstr("store  /data/a\\x0Ab\n"));
  EXPECT_THAT(text, HasSubstr("17 requests"));
  EXPECT_THAT(text, HasSubstr("3.0 MiB"));
  EXPECT_THAT(text, HasSubstr("half up to 4 us"));
  EXPECT_THAT(text, HasSubstr("99 % over 35 min 47 s (5)"));
  EXPECT_THAT(text, HasSubstr("page cache serves makes no request"));
  for (const StatDefinition& row : kStatDefinitions) EXPECT_THAT(text, HasSubstr("\n" + std::string(row.name) + " "));
  for (const GaugeDefinition& row : kGaugeDefinitions) EXPECT_THAT(text, HasSubstr("\n" + std::string(row.name) + " "));
}

// The rules of the text format: HELP and TYPE before the samples of a name and once, buckets that add up to the count.
TEST(RenderTest, PrometheusTextKeepsTheRulesOfTheFormat) {
  const std::string text = RenderPrometheus({{"mountpoint", "/mnt/a\"b\\c"}}, SomeNumbers());
  const std::regex sample(R"re(([a-z_]+)(\{mountpoint="/mnt/a\\"b\\\\x5Cc"(,le="([0-9]+|\+Inf)")?\}) ([0-9]+))re");
  std::map<std::string, std::string> types;
  std::map<std::string, int> helps;
  std::map<std::string, uint64_t> values;
  std::map<std::string, uint64_t> below;  // by histogram, as the next two
  std::map<std::string, int> buckets;
  std::istringstream lines(text);
  ASSERT_TRUE(text.ends_with("\n"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex(R"(# HELP (augurfs_[a-z_]+) ([^\\]+))"))) {
      EXPECT_EQ(++helps[match[1]], 1) << line;
      continue;
    }
    if (std::regex_match(line, match, std::regex("# TYPE ([a-z_]+) (counter|gauge|histogram)"))) {
      EXPECT_EQ(helps[match[1]], 1) << line;
      EXPECT_TRUE(types.emplace(match[1], match[2]).second) << line;
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    const std::string name = match[1];
    const std::string family = std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_TRUE(types.contains(name) || (types.contains(family) && types.at(family) == "histogram")) << line;
    EXPECT_EQ(types.contains(name) && types.at(name) == "counter", name.ends_with("_total")) << line;
    const uint64_t value = std::stoull(match[5]);
    if (name.ends_with("_bucket")) {
      ++buckets[family];
      EXPECT_GE(value, below[family]) << line;
      below[family] = value;
    } else {
      values[name] = value;
    }
  }
  EXPECT_EQ(buckets.size(), kHistogramCount);
  for (const auto& [family, count] : buckets) {
    EXPECT_EQ(count, 33) << family;
    EXPECT_EQ(below[family], values[family + "_count"]) << family;
  }
  EXPECT_GT(values["augurfs_lead_time_us_count"], 0u);
  EXPECT_EQ(values["augurfs_reads_total"], 17u);
  EXPECT_EQ(values["augurfs_order_position"], 5u);
  EXPECT_EQ(types.size(), kStatCount + kGaugeCount + kHistogramCount);
}

}  // namespace
}  // namespace augur
