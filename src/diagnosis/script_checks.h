// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// What holds the run back where readers hardly wait for the mount: too few workers, decoding in the script, processors.
// Pure.
std::vector<Finding> CheckScript(const RunWindow& window, const MachineFacts& machine);

}  // namespace augur
