// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/order_report.h"
#include "control/render.h"
#include "control/statistics.h"

namespace augur {

struct StatusScreen {
  Facts facts;                      // of the mount: names that it does not know are left out
  std::vector<OrderReport> orders;  // running jobs first
  bool predicts = true;             // false: this mount does not work out orders; it may be given one
  bool prefetches = true;           // false: nor does it read ahead
  int64_t now = 0;                  // seconds since 1970
};

// A dozen lines for people who train. The first one says whether the order is known, of which job, and since when. Then
// come other jobs, the files read ahead, what readers waited for, the disk, the memory, and what went wrong. What does
// not concern this mount has no line. Bytes from names are made printable.
std::string RenderStatus(const StatusScreen& screen, const StatisticsSnapshot& snapshot);

// "40 us", "0.3 ms", "12.0 s", "4 min 28 s", "3 h 5 min".
std::string FormatDuration(uint64_t microseconds);

}  // namespace augur
