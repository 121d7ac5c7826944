// SPDX-License-Identifier: Apache-2.0
#include "fuse/pending_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace augur {
namespace {

// In this order: a daemon that was told to end hears no more.
constexpr auto kPassedOn = std::to_array<int>({SIGUSR1, SIGTERM, SIGINT, SIGHUP});

}  // namespace

Result<PendingSignals> PendingSignals::Block() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : kPassedOn) sigaddset(&set, one);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return ErrnoStatus(error, "blocking signals");
  }
  UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return ErrnoStatus(errno, "signalfd");
  return PendingSignals(std::move(signals));
}

bool PendingSignals::Take() {
  bool any = false;
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    sigaddset(&kept_, static_cast<int>(info.ssi_signo));
    any = true;
  }
  return any;
}

void PendingSignals::PassTo(const HeldDaemon& daemon) {
  for (const int one : kPassedOn) {
    if (sigismember(&kept_, one) == 1) daemon.Signal(one);
  }
  sigdelset(&kept_, SIGUSR1);
}

}  // namespace augur
