// SPDX-License-Identifier: Apache-2.0
// What Holder does for an upgrade.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/trusted_program.h"
#include "base/units.h"
#include "fuse/holder.h"
#include "fuse/passed_fds.h"
#include "fuse/program_start.h"

namespace augur {
namespace {

// A daemon that hands the mount over answers what it has taken, and ends. What it leaves is resent when it is gone.
constexpr std::chrono::milliseconds kLeavesWithin = DyingDaemons::kPauseMax;
// How long the daemon of another program may take to serve once it is its turn: it has prepared all that takes long.
constexpr std::chrono::seconds kTrialMax(10);

}  // namespace

Status Holder::BecomeProgram(const HeldProgram& program, HolderLink::Task task) {
  const std::string path = program.request.path.data();
  Inherited inherited = {.task = task, .link = link_.get(), .device = options_.device.get(), .state = state_fd_.get()};
  UniqueFd opened;
  if (task == HolderLink::Task::kNext) {
    inherited.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(next_.errors.get(), STDERR_FILENO);
    if (!options_.takes_other_programs && path != options_.program) {
      return {Code::kPermission, Printable(path) +
                                     ": a mount of root that serves as another user is upgraded with the program that "
                                     "it was begun with alone: install the new one as " +
                                     Printable(options_.program) + ", or unmount, and mount again"};
    }
    AUGUR_TRY_ASSIGN(file, OpenTrustedProgram(path));
    opened = std::move(file);
    const HolderMessage message = {.verb = HolderVerb::kProgram};
    const int sent = opened.get();
    (void)SendWithFds(link_.get(), std::as_bytes(std::span(&message, 1)), std::span(&sent, 1));
  }
  AUGUR_TRY_ASSIGN(words, options_.command_line(program.request.options.data()));
  return ExecuteProgram(opened.valid() ? opened.get() : program.file.get(), path, inherited, words);
}

void Holder::ObeyNext(const HolderMessage& message, std::span<UniqueFd> fds) {
  switch (message.verb) {
    case HolderVerb::kProgram:
      if (!fds.empty()) next_.program.file = std::move(fds[0]);
      return;
    case HolderVerb::kPrepared:
      next_.prepared = true;
      daemon_.Tell(HolderVerb::kHandOver, next_.daemon.pid);
      return;
    default: return;  // its end is seen
  }
}

void Holder::BeginUpgrade(const ProgramRequest& request, std::span<UniqueFd> fds) {
  const bool can = was_ready_ && can_go_on_ && !next_.daemon.is_there() && !program_before_ && !start_next_at_ &&
                   !ending_ && !gives_up_;
  if (!can || fds.empty()) return daemon_.Tell(HolderVerb::kNotStarted, kOtherUnderWay);
  next_ = UpgradeAttempt();
  next_.errors = std::move(fds[0]);
  next_.due = Clock::now() + std::chrono::seconds(kPreparedWithinSeconds);
  ProgramRequest& wanted = next_.program.request;
  wanted = request;
  wanted.path.back() = wanted.options.back() = '\0';
  if (wanted.path[0] == '\0' && program_.file.valid()) wanted.path = program_.request.path;
  if (wanted.path[0] == '\0') options_.program.copy(wanted.path.data(), wanted.path.size() - 1);
  if (!Fork(HolderLink::Task::kNext, next_.daemon)) return GiveUpUpgrade(kEndUnknown);
  next_.errors.Reset();  // in the daemon that asked, its end shall be seen
}

void Holder::LookAfterUpgrade(Clock::time_point now) {
  if (next_.daemon.is_there() && next_.daemon.HasEnded()) {
    const std::optional<DaemonDeath> death = next_.daemon.HowItEnded();
    GiveUpUpgrade(death ? WaitStatus(*death) : kEndUnknown);
  } else if (next_.daemon.is_there() && !next_.prepared && now >= next_.due) {
    GiveUpUpgrade(kNotInTime);
  }
  if (!program_before_ || now < trial_due_) return;
  daemon_.Signal(SIGKILL);
  trial_due_ = now + kTrialMax;
}

// The daemon that serves goes on, unless it has begun to hand over: then HandedOver starts another one.
void Holder::GiveUpUpgrade(int32_t why) {
  next_.daemon.Signal(SIGKILL);
  next_ = UpgradeAttempt();
  daemon_.Tell(HolderVerb::kNotStarted, why);
}

void Holder::HandedOver() {
  if (ending_ || gives_up_) return;
  LetGo(kLeavesWithin);
  if (next_.daemon.is_there() && next_.prepared) {
    MakeNextServe();
  } else {
    start_next_at_ = Clock::now();
  }
}

void Holder::MakeNextServe() {
  program_before_ = std::move(program_);
  program_ = std::move(next_.program);
  daemon_ = std::move(next_.daemon);
  daemon_pid_ = daemon_.pid;
  next_ = UpgradeAttempt();
  trial_due_ = Clock::now() + kTrialMax;
  start_next_at_.reset();
  daemon_.Tell(HolderVerb::kTurn, 0);
  signals_.PassTo(daemon_);
}

}  // namespace augur
