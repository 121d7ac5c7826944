// SPDX-License-Identifier: Apache-2.0
#include "control/render.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/excerpt.h"
#include "base/units.h"
#include "control/status_screen.h"

namespace augur {
namespace {

constexpr std::string_view kPrefix = "augurfs_";

std::string Padded(std::string_view text, size_t width) {
  std::string out(text);
  out.resize(std::max(width, out.size()), ' ');
  return out;
}

std::string ForPeople(uint64_t value, std::string_view unit) {
  if (unit == "bytes") return FormatSize(value);
  if (unit == "microseconds") return FormatDuration(value);
  return FormatCount(value) + " " + std::string(unit);
}

std::string UpToText(uint64_t bound, std::string_view unit) {
  if (bound == UINT64_MAX) return "over " + ForPeople(HistogramCounts::UpTo(HistogramCounts::kFiniteBuckets - 1), unit);
  return "up to " + ForPeople(bound, unit);
}

std::string ForPeople(const HistogramCounts& counts, std::string_view unit) {
  const uint64_t total = counts.total();
  if (total == 0) return "no values";
  return "half " + UpToText(counts.Quantile(0.5), unit) + ", 99 % " + UpToText(counts.Quantile(0.99), unit) + " (" +
         FormatCount(total) + ")";
}

struct Row {
  std::string name;
  std::string value;
  std::string meaning;
};

std::string Lay(const std::vector<Row>& rows) {
  size_t name_width = 0;
  size_t value_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    value_width = std::max(value_width, row.value.size());
  }
  std::string out;
  for (const Row& row : rows) {
    out += Padded(row.name, name_width) + "  ";
    out += row.meaning.empty() ? row.value : Padded(row.value, value_width) + "  " + row.meaning;
    out += '\n';
  }
  return out;
}

// "# HELP" and "# TYPE" of a number. Our texts have neither of the two characters that HELP escapes.
template <typename Id>
std::string Head(const std::string& name, const Definition<Id>& definition, std::string_view type) {
  std::string out =
      "# HELP " + name + " " + std::string(definition.meaning) + ", in " + std::string(definition.unit) + ".";
  if (!definition.excludes.empty()) out += " Not counted: " + std::string(definition.excludes) + ".";
  return out + "\n# TYPE " + name + " " + std::string(type) + "\n";
}

std::string Label(std::string_view name, std::string_view value) {
  std::string out = std::string(name) + "=\"";
  for (const char c : Printable(value)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string Sample(std::string_view name, const std::string& labels, uint64_t value) {
  return std::string(name) + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(value) + "\n";
}

std::string PrometheusHistogram(const std::string& name, const std::string& labels, const HistogramCounts& counts) {
  std::string out;
  const auto add_bucket = [&](std::string_view bound, uint64_t count) {
    out += Sample(name + "_bucket", labels + (labels.empty() ? "" : ",") + Label("le", bound), count);
  };
  uint64_t below = 0;
  for (size_t i = 0; i < HistogramCounts::kFiniteBuckets; ++i) {
    below += counts.counts[i];
    add_bucket(std::to_string(HistogramCounts::UpTo(i)), below);
  }
  add_bucket("+Inf", counts.total());
  return out + Sample(name + "_sum", labels, counts.sum) + Sample(name + "_count", labels, counts.total());
}

}  // namespace

std::string RenderTable(const Facts& facts, const StatisticsSnapshot& snapshot) {
  std::vector<Row> rows;
  for (const auto& [name, value] : facts) rows.push_back({name, Printable(value), ""});
  std::string out = Lay(rows);
  rows.clear();
  for (const StatDefinition& row : kStatDefinitions) {
    rows.push_back({std::string(row.name), ForPeople(snapshot[row.id], row.unit), std::string(row.meaning)});
  }
  for (const GaugeDefinition& row : kGaugeDefinitions) {
    rows.push_back({std::string(row.name), ForPeople(snapshot[row.id], row.unit), std::string(row.meaning)});
  }
  if (!facts.empty()) out += '\n';
  out += Lay(rows);
  rows.clear();
  for (const HistogramDefinition& row : kHistogramDefinitions) {
    rows.push_back({std::string(row.name), ForPeople(snapshot[row.id], row.unit), std::string(row.meaning)});
  }
  return out + Lay(rows) +
         "\nWhat the kernel's page cache serves makes no request to the daemon, and is in none of these numbers.\n";
}

std::string RenderJson(const Facts& facts, const StatisticsSnapshot& snapshot) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["mount"] = ordered_json::object();
  for (const auto& [name, value] : facts) json["mount"][name] = value;
  for (const StatDefinition& row : kStatDefinitions) json["counters"][std::string(row.name)] = snapshot[row.id];
  for (const GaugeDefinition& row : kGaugeDefinitions) json["gauges"][std::string(row.name)] = snapshot[row.id];
  for (const HistogramDefinition& row : kHistogramDefinitions) {
    const HistogramCounts& counts = snapshot[row.id];
    ordered_json buckets = ordered_json::array();
    for (size_t i = 0; i < HistogramCounts::kBuckets; ++i) {
      if (counts.counts[i] == 0) continue;
      ordered_json bound;  // null
      if (i < HistogramCounts::kFiniteBuckets) bound = HistogramCounts::UpTo(i);
      buckets.push_back({{"le", bound}, {"count", counts.counts[i]}});
    }
    json["histograms"][std::string(row.name)] = {
        {"count", counts.total()}, {"sum", counts.sum}, {"buckets", std::move(buckets)}};
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string RenderPrometheus(const Facts& facts, const StatisticsSnapshot& snapshot) {
  std::string labels;
  for (const auto& [name, value] : facts) labels += (labels.empty() ? "" : ",") + Label(name, value);
  std::string out;
  for (const StatDefinition& row : kStatDefinitions) {
    const std::string name = std::string(kPrefix) + std::string(row.name) + "_total";
    out += Head(name, row, "counter") + Sample(name, labels, snapshot[row.id]);
  }
  for (const GaugeDefinition& row : kGaugeDefinitions) {
    const std::string name = std::string(kPrefix) + std::string(row.name);
    out += Head(name, row, "gauge") + Sample(name, labels, snapshot[row.id]);
  }
  for (const HistogramDefinition& row : kHistogramDefinitions) {
    const std::string name = std::string(kPrefix) + std::string(row.name);
    out += Head(name, row, "histogram") + PrometheusHistogram(name, labels, snapshot[row.id]);
  }
  return out;
}

}  // namespace augur
