// SPDX-License-Identifier: Apache-2.0
#include "fuse/held_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <utility>

#include "fuse/passed_fds.h"

namespace augur {
namespace {

// Of <linux/pidfd.h> of Linux 6.15: how a process has ended that is gone.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup;
  std::array<uint32_t, 11> ids;
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

// PIDFD_THREAD of Linux 6.9: of a thread, and not of its process.
constexpr unsigned kPidfdThread = O_EXCL;

}  // namespace

bool HasEnded(const UniqueFd& pidfd) {
  pollfd one = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return pidfd.valid() && poll(&one, 1, 0) > 0;
}

UniqueFd OpenThread(pid_t thread) { return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, thread, kPidfdThread))); }

HeldDaemon HeldDaemon::Of(pid_t pid, UniqueFd socket) {
  HeldDaemon daemon;
  daemon.pid = pid;
  daemon.socket = std::move(socket);
  daemon.process.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (daemon.process.valid()) return daemon;
  daemon.is_gone = errno == ESRCH;
  if (daemon.is_gone) return daemon;
  kill(pid, SIGKILL);
  return {};
}

bool HeldDaemon::Note(const HolderMessage& message) {
  switch (message.verb) {
    case HolderVerb::kWatch: watch = OpenThread(message.value); return true;
    case HolderVerb::kExit: exit_status = message.value; return true;
    case HolderVerb::kTakes: takes = true; return true;
    default: return false;
  }
}

std::optional<DaemonDeath> HeldDaemon::HowItEnded() const {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid) {
    if (info.si_code == CLD_EXITED) return DaemonDeath{.status = info.si_status};
    return DaemonDeath{.signal = info.si_status, .dumped = info.si_code == CLD_DUMPED};
  }
  constexpr int kTries = 10;
  constexpr useconds_t kAgainUs = 1000;
  PidfdInfo ended{};
  for (int i = 0; i < kTries; ++i) {
    ended.mask = kPidfdInfoExit;
    if (ioctl(process.get(), kPidfdGetInfo, &ended) != 0) break;
    if ((ended.mask & kPidfdInfoExit) != 0) {
      if (WIFEXITED(ended.exit_code)) return DaemonDeath{.status = WEXITSTATUS(ended.exit_code)};
      return DaemonDeath{.signal = WTERMSIG(ended.exit_code), .dumped = WCOREDUMP(ended.exit_code) != 0};
    }
    usleep(kAgainUs);
  }
  if (exit_status) return DaemonDeath{.status = *exit_status};
  return std::nullopt;
}

void HeldDaemon::Tell(HolderVerb verb, int32_t value) const {
  const HolderMessage message = {.verb = verb, .value = value};
  if (socket.valid()) (void)SendWithFds(socket.get(), std::as_bytes(std::span(&message, 1)), {}, MSG_DONTWAIT);
}

void HeldDaemon::Signal(int number) const {
  if (process.valid()) (void)syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

int32_t WaitStatus(const DaemonDeath& death) { return W_EXITCODE(death.status, death.signal); }

}  // namespace augur
