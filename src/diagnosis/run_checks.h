// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/machine_facts.h"
#include "diagnosis/run_window.h"

namespace augur {

// What holds a run back: a pure function of two samples of its mount and the facts of the machine. It asks one question
// first: for what part of their time have readers waited for the mount? Below kWaitShareMin the cause is elsewhere: in
// the script, in too few workers, or in the processors (script_checks.h). From there on it is the disk, the way to a
// server, memory, the order, or decoding (data_checks.h, order_checks.h, view_checks.h). Each finding names the numbers
// that it comes from.
std::vector<Finding> CheckRun(const RunWindow& window, const MachineFacts& machine);

// A run that waits less than this gains less than a ninth from a mount that answers at once.
inline constexpr double kWaitShareMin = 0.1;

}  // namespace augur
