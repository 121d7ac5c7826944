// SPDX-License-Identifier: Apache-2.0
#include "predict/job_orders.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace augur {

Order InterleaveJobs(const std::vector<JobOrder>& jobs, uint64_t files_max) {
  struct Next {
    double time = 0;
    size_t job = 0;
    size_t place = 0;
    bool operator>(const Next& other) const { return std::pair(time, job) > std::pair(other.time, other.job); }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (size_t job = 0; job < jobs.size(); ++job) {
    if (!jobs[job].files.empty()) next.push({.time = 1 / jobs[job].files_per_second, .job = job});
  }
  Order merged;
  while (!next.empty() && merged.size() < files_max) {
    Next now = next.top();
    next.pop();
    const JobOrder& job = jobs[now.job];
    merged.push_back(job.files[now.place]);
    if (++now.place == job.files.size()) continue;
    now.time += 1 / job.files_per_second;
    next.push(now);
  }
  return merged;
}

}  // namespace augur
