// SPDX-License-Identifier: Apache-2.0
#include "predict/job_orders.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace augur {

Order InterleaveJobs(const std::vector<JobOrder>& lanes, uint64_t files_max) {
  struct Next {
    double time = 0;
    size_t lane = 0;
    size_t place = 0;
    bool operator>(const Next& other) const { return std::pair(time, lane) > std::pair(other.time, other.lane); }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!lanes[lane].files.empty()) next.push({.time = 1 / lanes[lane].files_per_second, .lane = lane});
  }
  Order merged;
  while (!next.empty() && merged.size() < files_max) {
    Next now = next.top();
    next.pop();
    const JobOrder& lane = lanes[now.lane];
    merged.push_back(lane.files[now.place]);
    if (++now.place == lane.files.size()) continue;
    now.time += 1 / lane.files_per_second;
    next.push(now);
  }
  return merged;
}

}  // namespace augur
