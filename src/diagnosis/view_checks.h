// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// What decoding for views costs, and whether images are decoded again and again. Pure.
std::vector<Finding> CheckView(const RunWindow& window, const MachineFacts& machine);

}  // namespace augur
