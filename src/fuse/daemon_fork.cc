// SPDX-License-Identifier: Apache-2.0
#include "fuse/daemon_fork.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <span>

#include "base/trusted_program.h"
#include "base/units.h"
#include "fuse/holder_message.h"
#include "fuse/passed_fds.h"
#include "fuse/program_start.h"

namespace augur {
namespace {

constexpr const char* kHolderName = "augur-holder";
// For the line in the log that says why the mount has ended.
constexpr unsigned kGiveUpSeconds = 10;
constexpr int kExitError = 2;

}  // namespace

void DaemonFork::ShowHolder(const std::string& path) { title_.Set(kHolderName, kHolderName + (" " + path)); }

HeldDaemon DaemonFork::Fork(Task task, const HeldProgram& program, int device, int errors) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return {};
  task_ = task;
  if (pid > 0) return HeldDaemon::Of(pid, std::move(ours));
  link_ = std::move(theirs);
  Become(program, device, errors);
  return {};
}

void DaemonFork::Become(const HeldProgram& program, int device, int errors) {
  (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  if (task_ == Task::kGoOn || task_ == Task::kNext) title_.Restore();
  if (task_ == Task::kGiveUp) alarm(kGiveUpSeconds);
  (void)signal(SIGCHLD, SIG_DFL);
  if (task_ == Task::kNext) {
    const std::string text = Execute(program, device, errors).text() + "\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
    _exit(kExitError);
  }
  // A program that has gone meanwhile is no reason to end: this one goes on.
  if (task_ == Task::kGoOn && program.file.valid()) (void)Execute(program, device, errors);
}

Status DaemonFork::Execute(const HeldProgram& program, int device, int errors) const {
  const std::string path = program.request.path.data();
  Inherited inherited = {.task = task_, .link = link_.get(), .device = device, .state = state_.fd.get()};
  UniqueFd opened;
  if (task_ == Task::kNext) {
    inherited.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(errors, STDERR_FILENO);
    if (!own_.takes_others && path != own_.path) {
      return {Code::kPermission, Printable(path) +
                                     ": a mount of root that serves as another user is upgraded with the program that "
                                     "it was begun with alone: install the new one as " +
                                     Printable(own_.path) + ", or unmount, and mount again"};
    }
    AUGUR_TRY_ASSIGN(file, OpenTrustedProgram(path));
    opened = std::move(file);
    const HolderMessage message = {.verb = HolderVerb::kProgram};
    const int sent = opened.get();
    (void)SendWithFds(link_.get(), std::as_bytes(std::span(&message, 1)), std::span(&sent, 1));
  }
  AUGUR_TRY_ASSIGN(words, own_.command_line(program.request.options.data()));
  return ExecuteProgram(opened.valid() ? opened.get() : program.file.get(), path, inherited, words);
}

}  // namespace augur
