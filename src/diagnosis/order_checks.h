// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// Whether the order of the reads is known, and if not, why and which hint would tell it. Pure.
std::vector<Finding> CheckOrder(const RunWindow& window, const MachineFacts& machine);

}  // namespace augur
