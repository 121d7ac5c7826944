// SPDX-License-Identifier: Apache-2.0
#include "prefetch/region_read.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"

namespace augur {

double HoldingPrice(double memory_files, double regions) {
  regions = std::max(1.0, regions);
  const double uses = 2 * memory_files / regions + 1;
  return 2 / (regions * uses * uses);
}

Position VisitEnd(std::span<const RegionUse> uses, double price) {
  AUGUR_CHECK(!uses.empty());
  const size_t count = uses.size();
  std::vector<double> cost(count + 1, 0);  // of all uses from this one on, when a visit begins there
  size_t first_end = 1;
  for (size_t begin = count; begin-- > 0;) {
    double visit = 1;
    double least = std::numeric_limits<double>::infinity();
    size_t end = begin;
    for (size_t next = begin; next < count; ++next) {
      const double held = price * static_cast<double>(uses[next].use - uses[begin].use) * uses[next].files;
      if (held > 1) break;  // another visit is cheaper than to hold this one alone
      visit += held;
      if (visit + cost[next + 1] < least) {
        least = visit + cost[next + 1];
        end = next + 1;
      }
    }
    cost[begin] = least;
    if (begin == 0) first_end = end;
  }
  return first_end == count ? kNever : uses[first_end - 1].use;
}

}  // namespace augur
