// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/mount_table.h"
#include "diagnosis/finding.h"
#include "diagnosis/machine_checks.h"
#include "diagnosis/machine_survey.h"
#include "diagnosis/run_checks.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/run_sampler.h"
#include "tools/output.h"
#include "tools/stop_signals.h"

namespace augur {
namespace {

// "0:54" of the mount at this place; empty: it is not seen here.
std::string DeviceOf(const std::string& mount_point) {
  const Result<std::vector<MountRow>> rows = ReadMountTable();
  if (!rows.ok()) return {};
  const auto row = std::ranges::find_if(
      *rows, [&](const MountRow& one) { return one.type == kAugurfsType && one.mount_point == mount_point; });
  return row != rows->end() ? row->device : std::string();
}

Result<int> Tell(const std::vector<Finding>& findings, bool json) {
  const int status = HasProblem(findings) ? kExitNo : kExitDone;
  AUGUR_TRY(WriteOut(json ? RenderFindingsJson(findings) : RenderFindings(findings), status));
  return status;
}

}  // namespace

Result<int> RunDoctor(const DoctorOptions& options) {
  MachineFacts machine = SurveyMachine();
  if (options.mountpoint.empty()) return Tell(CheckMachine(machine), options.json);
  const StopSignals signals;
  AUGUR_TRY_ASSIGN(before, SampleRun(options.mountpoint));
  if (!WaitUnlessStopped(std::chrono::seconds(options.seconds))) return FailStopped("augurctl", kNotWatched);
  AUGUR_TRY_ASSIGN(after, SampleRun(options.mountpoint));
  machine.mount_read_ahead_bytes = ReadAheadOf(DeviceOf(after.reading.Fact("mountpoint")));
  return Tell(CheckRun(RunWindow(std::move(before), std::move(after)), machine), options.json);
}

}  // namespace augur
