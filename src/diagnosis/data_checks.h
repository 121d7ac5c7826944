// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// What of the disk, the way to the server and the memory makes readers wait. Pure.
std::vector<Finding> CheckData(const RunWindow& window, const MachineFacts& machine);

}  // namespace augur
