// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "control/order_report.h"
#include "control/render.h"
#include "predict/job_table.h"

namespace augur {

// For people: which of the orders that are read are known, and how sure that is.
struct PredictionStatus {
  Facts facts;                       // "predicted", and a line for each job where there are several
  std::vector<OrderReport> reports;  // for a screen: running jobs first, those whose order is known before the others
};

// `hot`: no order is looked for, because all files come from memory. `paused`: there are no jobs for that reason.
// `ended`: describes the order of the last job that has ended; empty: none was known.
PredictionStatus DescribeJobs(const JobTable& jobs, bool hot, bool paused, const std::string& ended);

}  // namespace augur
