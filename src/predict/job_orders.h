// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/order.h"

namespace augur {

// What one job reads from now on, and how fast beside the others.
struct JobOrder {
  Order files;
  double files_per_second = 1;  // more than 0; only the proportions count
};

// One order of the reads of several jobs, in the order in which they may be expected. Each job has its own order and
// its own speed, until `files_max` are taken. A job that ends leaves the time to the others.
Order InterleaveJobs(const std::vector<JobOrder>& jobs, uint64_t files_max);

}  // namespace augur
