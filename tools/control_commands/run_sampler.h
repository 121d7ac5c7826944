// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "diagnosis/run_window.h"

namespace augur {

// Asks the daemon of the mount for its numbers and its jobs, and the system for the processor time of those who read. A
// daemon of a version that tells of no jobs gives none. Failures as AskMount; kCorrupt: the answer is of another form.
// REQUIRES: one thread.
Result<RunSample> SampleRun(const std::string& mountpoint);

}  // namespace augur
