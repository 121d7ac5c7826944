// SPDX-License-Identifier: Apache-2.0
#include "control/statistics_reading.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/json_values.h"

namespace augur {
namespace {

HistogramCounts CountsIn(const nlohmann::json& histogram) {
  HistogramCounts counts;
  if (!histogram.is_object()) return counts;
  counts.sum = CountIn(histogram, "sum");
  const auto buckets = histogram.find("buckets");
  if (buckets == histogram.end() || !buckets->is_array()) return counts;
  for (const nlohmann::json& bucket : *buckets) {
    if (!bucket.is_object()) continue;
    const bool bounded = bucket.contains("le") && bucket["le"].is_number_unsigned();
    const size_t place =
        bounded ? HistogramCounts::BucketOf(bucket["le"].get<uint64_t>()) : HistogramCounts::kFiniteBuckets;
    counts.counts[place] += CountIn(bucket, "count");
  }
  return counts;
}

}  // namespace

std::string StatisticsReading::Fact(std::string_view name) const {
  const auto found = std::ranges::find(facts, name, [](const auto& fact) { return std::string_view(fact.first); });
  return found != facts.end() ? found->second : std::string();
}

Result<StatisticsReading> ParseStatistics(std::string_view json) {
  const auto all = nlohmann::json::parse(json, nullptr, false);
  const auto part = [&](const char* name) {
    const auto found = all.find(name);
    return found != all.end() && found->is_object() ? *found : nlohmann::json::object();
  };
  if (!all.is_object() || !all.contains("counters")) {
    return Status(Code::kCorrupt, "the daemon's answer has no statistics: use the augurctl that came with it");
  }
  StatisticsReading reading;
  const nlohmann::json facts = part("mount");
  for (const auto& [name, value] : facts.items()) {
    if (value.is_string()) reading.facts.emplace_back(name, value.get<std::string>());
  }
  const nlohmann::json counters = part("counters");
  for (size_t i = 0; i < kStatCount; ++i) reading.numbers.counters[i] = CountIn(counters, kStatDefinitions[i].name);
  const nlohmann::json gauges = part("gauges");
  for (size_t i = 0; i < kGaugeCount; ++i) reading.numbers.gauges[i] = CountIn(gauges, kGaugeDefinitions[i].name);
  const nlohmann::json histograms = part("histograms");
  for (size_t i = 0; i < kHistogramCount; ++i) {
    const auto found = histograms.find(kHistogramDefinitions[i].name);
    if (found != histograms.end()) reading.numbers.histograms[i] = CountsIn(*found);
  }
  return reading;
}

}  // namespace augur
