// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_signals.h"

#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace augur {
namespace {

// The kernel's SIGBUS comes at an access to the mapping and never from inside malloc or the log, so logging here is
// safe although POSIX does not promise it; the alarm ends the process should it hang all the same.
void OnBusError(int signal, siginfo_t* info, void* /*context*/) {
  constexpr unsigned kPatienceSeconds = 2;
  alarm(kPatienceSeconds);
  const bool from_kernel = info->si_code > 0;
  if (from_kernel) {
    spdlog::critical(
        "I/O error reading mapped memory: a file of it was truncated, or its disk or network file system failed; this "
        "daemon ends");
  }
  // SA_RESETHAND has put the default back, so this ends the process with the right status.
  raise(signal);
}

constexpr auto kCrashes = std::to_array<int>({SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE});

// For the handler below, which may touch nothing else. Constant after TellOfCrashes.
int crash_socket = -1;
pid_t crash_process = -1;
std::array<struct sigaction, kCrashes.size()> actions_before;

void OnCrash(int signal, siginfo_t* info, void* /*context*/) {
  // A process that the daemon has just forked has the handler, too, and its death is not the daemon's.
  if (getpid() == crash_process) {
    const HolderMessage message = HolderLink::DyingMessage(signal);
    (void)!send(crash_socket, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  for (size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i] == signal) sigaction(signal, &actions_before[i], nullptr);
  }
  // What made the kernel send it is done again when this returns, and the core has the place.
  const bool from_kernel = info->si_code > 0;
  if (!from_kernel) raise(signal);
}

sigset_t StopSignalSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, one);
  return set;
}

Result<UniqueFd> OpenSignals(const sigset_t& set) {
  UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return ErrnoStatus(errno, "signalfd");
  return signals;
}

}  // namespace

void TellOfCrashes(const HolderLink& link) {
  crash_socket = link.crash_fd();
  crash_process = getpid();
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO;
  for (size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &action, &actions_before[i]);
}

Result<UniqueFd> TakeSignals() {
  (void)signal(SIGPIPE, SIG_IGN);
  sigset_t set = StopSignalSet();
  sigaddset(&set, SIGUSR1);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return ErrnoStatus(error, "blocking signals");
  }
  AUGUR_TRY_ASSIGN(signals, OpenSignals(set));
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  if (sigaction(SIGBUS, &action, nullptr) != 0) return ErrnoStatus(errno, "sigaction");
  return signals;
}

Result<UniqueFd> OpenStopSignals() { return OpenSignals(StopSignalSet()); }

HeardSignals HearSignals(const UniqueFd& signals) {
  HeardSignals heard;
  signalfd_siginfo info{};
  while (read(signals.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGUSR1) {
      heard.asks_statistics = true;
    } else if (heard.end == 0) {
      heard.end = number;
    }
  }
  return heard;
}

}  // namespace augur
