// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_end.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/limited_log.h"
#include "base/units.h"
#include "tools/augurfs_options.h"
#include "tools/daemon_signals.h"
#include "tools/daemon_upgrade.h"
#include "tools/output.h"

namespace augur {
namespace {

// What is under way at the end may take so long. A disk that is alive answers within a second; a network file system
// after a few.
constexpr std::chrono::seconds kEndMax(10);

std::string EndingOn(int signal) { return "ending on signal " + std::string(sigabbrev_np(signal)); }

}  // namespace

Status DaemonEnd::StartWatchdog() {
  AUGUR_TRY_ASSIGN(watchdog, EndWatchdog::Start(kEndMax, [this] { GiveUp(); }));
  watchdog_ = std::move(watchdog);
  if (link_ != nullptr) link_->Watch(watchdog_->thread_number());
  mount_.Watch(watchdog_->thread_number());
  return Status::Ok();
}

// By the watchdog. The holder or the broker, which the kernel tells of our end, aborts the connection: readers get an
// error even where a thread of ours hangs in the disk and cannot end.
void DaemonEnd::GiveUp() const {
  constexpr unsigned kPatienceSeconds = 2;
  alarm(kPatienceSeconds);  // the log may lie on the same disk
  spdlog::error(
      "requests have not ended within {} s, because a disk does not answer or the processors are overloaded: ending "
      "without them; {}",
      kEndMax.count(), hands_over_ ? "the next daemon gets them again" : "files still open fail");
  _exit(kExitError);
}

// Does not wait for the requests that hold the queues of io_uring back. The holder has them answered when this process
// is gone: by the next daemon, or by ending the connection.
void DaemonEnd::EndAtOnce(const Status& status) const {
  if (!status.ok() && main_tells_) (void)Fail(kAugurfs, status);
  if (!status.ok() && !main_tells_) spdlog::error("{}", status.text());
  ProcessLog().Flush();
  const int exit_status = status.ok() ? kExitDone : kExitError;
  link_->Exiting(exit_status);
  _exit(exit_status);
}

void DaemonEnd::EndUnserved(int signal) {
  spdlog::info("{}: {}", Printable(mount_.path()), signal == 0 ? "unmounted" : EndingOn(signal));
  link_->Ending();
  EndAtOnce(signal == 0 ? Status::Ok() : mount_.Unmount());
}

Status DaemonEnd::EndMount(const std::string& why, MountStack& stack) {
  ends_mount_ = true;
  spdlog::info("{}: {}", Printable(mount_.path()), why);
  if (link_ != nullptr) link_->Ending();
  watchdog_->Arm();
  stack.EndHelper();  // without a clone of the mount it may have it in use
  return mount_.Unmount();
}

Status DaemonEnd::EndMountOn(int signal, MountStack& stack) { return EndMount(EndingOn(signal), stack); }

void DaemonEnd::Finish(const Status& outcome, MountStack& stack, ControlEndpoint& control) {
  if (link_ != nullptr) link_->Ending();
  watchdog_->Arm();
  if (!outcome.ok()) {
    const Status unmounted = mount_.Unmount();
    if (!unmounted.ok()) spdlog::error("{}", unmounted.text());
  }
  // The operator first, whose commands may wait for what answers readers; then the mount.
  control.Stop();
  stack.StopAhead();
  stack.Stop();
  ProcessLog().Flush();
}

Status DaemonEnd::HandOver(const UniqueFd& signals, MountStack& stack, ControlEndpoint& control) {
  hands_over_ = true;
  watchdog_->Arm();
  NoteStopping(link_->state().upgrade);  // it may get no further
  control.Stop();
  stack.StopAhead();
  NoteStopping(link_->state().upgrade);
  stack.HandOver();
  Status status;
  const auto [signal, asks_statistics] = HearSignals(signals);
  if (asks_statistics) stack.LogStatistics();
  const bool ends = signal != 0;
  if (ends) {
    status = EndMountOn(signal, stack);
  } else {
    link_->HandedOver();
  }
  stack.Stop();
  ProcessLog().Flush();
  if (ends) EndAtOnce(status);
  return status;
}

void DaemonEnd::LeaveToNext(const Status& failure, MountStack& stack, ControlEndpoint& control) {
  hands_over_ = true;
  watchdog_->Arm();
  control.Stop();
  stack.StopAhead();
  stack.HandOver();
  EndAtOnce(failure);
}

}  // namespace augur
