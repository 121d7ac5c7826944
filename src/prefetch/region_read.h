// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "prefetch/read_schedule.h"

namespace augur {

// One coming read of a file of a region.
struct RegionUse {
  Position use = 0;
  double files = 1;  // its bytes, as a part of the mean file's
};

// What it costs to hold a file of the mean size while one file is read, in visits to a region. It is the price at which
// files of `regions` regions just fill a memory of `memory_files`, if each region's uses come evenly.
//
// A visit serves k uses of its region, which are `regions` reads apart on average. It holds files for
// H = regions * k (k - 1) / 2 reads, and each use costs (1 + price * H) / k. That cost is least at
// k^2 = 2 / (price * regions); memory holds regions * (k - 1) / 2 files at that.
double HoldingPrice(double memory_files, double regions);

// Until which use, inclusive, a visit to a region now should bring its files. `uses` are those to come, sorted, the
// first of them being what the visit is made for. The uses are cut into visits so that visits and holding together cost
// least, by dynamic programming from the last use on; told is the end of the first. So the last visits of a queue of
// epochs are as long as those before them, and none is made for the few uses that happen to be left. kNever when the
// visit is the last one. REQUIRES: not empty. Takes time in proportion to uses times uses a visit: some hundred of them
// are a microsecond.
Position VisitEnd(std::span<const RegionUse> uses, double price);

}  // namespace augur
