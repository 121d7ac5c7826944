// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "diagnosis/run_window.h"

namespace augur {

// Asks the daemon of the mount for its numbers and its jobs, and the system for the processor time of those who read. A
// daemon of a version that tells of no jobs gives none. Failures as AskMount; kCorrupt: the answer is of another form.
// REQUIRES: one thread.
Result<RunSample> SampleRun(const std::string& mountpoint);

// Waits for the time between two samples. False: a signal came (StopSignals) before it was over.
bool WaitUnlessStopped(std::chrono::seconds time);

// What a command says then.
inline constexpr std::string_view kNotWatched =
    ": it had not watched for as long as it was to, and says nothing; --seconds=N makes that shorter";

}  // namespace augur
