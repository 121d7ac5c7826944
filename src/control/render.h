// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/statistics.h"

namespace augur {

// What a mount is, as names and values: "mountpoint", "store", "generation".
using Facts = std::vector<std::pair<std::string, std::string>>;

// The numbers for people: facts, then a table with name, value, unit and meaning. Bytes from names are made printable.
std::string RenderTable(const Facts& facts, const StatisticsSnapshot& snapshot);

// One JSON object: {"mount": facts, "counters": {...}, "gauges": {...}, "histograms": {NAME: {"count", "sum",
// "buckets": [{"le", "count"}]}}}. A bucket's count is its own, not with those below; "le" null: no upper bound.
// Buckets without values are left out.
std::string RenderJson(const Facts& facts, const StatisticsSnapshot& snapshot);

// Prometheus' text format, version 0.0.4: augurfs_NAME, of counters with _total. Every sample has these labels, so that
// the numbers of several mounts can lie side by side. REQUIRES: names of labels are such as Prometheus takes.
std::string RenderPrometheus(const Facts& labels, const StatisticsSnapshot& snapshot);

}  // namespace augur
