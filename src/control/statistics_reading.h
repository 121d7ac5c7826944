// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "control/render.h"
#include "control/statistics.h"

namespace augur {

// What a daemon has told of itself at one moment.
struct StatisticsReading {
  Facts facts;  // of the mount
  StatisticsSnapshot numbers;

  // The fact of this name; empty: there is none.
  std::string Fact(std::string_view name) const;
};

// Reads what RenderJson made, of any version: numbers that this program does not know are left out, those that are not
// there are 0. kCorrupt: it is no such object.
Result<StatisticsReading> ParseStatistics(std::string_view json);

}  // namespace augur
