// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "tools/augurctl_options.h"

namespace augur {

// The commands of augurctl, one file each: each finds the daemon of the mount, asks it, and writes the result to
// stdout. Failures name the mount point, or the order file.
Status RunHint(const HintOptions& options);
Status RunStatus(const StatusOptions& options);
Status RunDrop(const DropOptions& options);
Status RunViews(const ViewsOptions& options);
Status RunRestart(const RestartOptions& options);
// Returns the exit status, after the user has ended it.
Result<int> RunTop(const TopOptions& options);
// Returns when the time is over, or the user has ended it; writes the page then.
Status RunReport(const ReportOptions& options);
// Returns the exit status: kExitNo when something holds the run back, or keeps the machine from mounting.
Result<int> RunDoctor(const DoctorOptions& options);
// Returns the exit status: kExitNo when not all is kept.
Result<int> RunWarm(const WarmOptions& options);

}  // namespace augur
