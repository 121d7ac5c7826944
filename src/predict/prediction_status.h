// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "control/render.h"
#include "control/status_screen.h"

namespace augur {

// For people, what is known of the orders that are read, and how sure it is.
struct PredictionStatus {
  Facts facts;                       // "predicted", and a line for each job where there are several
  std::vector<OrderReport> reports;  // for a screen: running jobs first, those whose order is known before the others
};

}  // namespace augur
