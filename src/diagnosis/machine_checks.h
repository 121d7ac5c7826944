// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"

namespace augur {

// What of the machine keeps a mount from working, or costs it speed; checks that find it in order say so, too. Pure.
std::vector<Finding> CheckMachine(const MachineFacts& machine);

}  // namespace augur
