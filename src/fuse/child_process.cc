// SPDX-License-Identifier: Apache-2.0
#include "fuse/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <utility>

#include "fuse/process_title.h"

namespace augur {
namespace {

// The descriptors of the daemon stay with the daemon: a caller who reads its output must see the end of it, and a lock
// on the store must end with it.
UniqueFd KeepOnly(UniqueFd socket, UniqueFd* kept) {
  constexpr int kSocket = STDERR_FILENO + 1;
  constexpr int kKept = kSocket + 1;
  // Out of the way first: each may have the other's place.
  const int high_socket = fcntl(socket.Release(), F_DUPFD, kKept + 1);
  const bool keeps = kept != nullptr && kept->valid();
  const int high_kept = keeps ? fcntl(kept->Release(), F_DUPFD, kKept + 1) : -1;
  dup3(high_socket, kSocket, O_CLOEXEC);
  if (keeps) {
    dup3(high_kept, kKept, O_CLOEXEC);
    kept->Reset(kKept);
  }
  close_range(keeps ? kKept + 1 : kKept, UINT_MAX, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  if (null > STDERR_FILENO) close(null);
  return UniqueFd(kSocket);
}

void SettleSignals(int death_signal) {
  // The daemon decides when to end; a signal to all of a group or service is for it.
  for (const int ignored : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR2, SIGTSTP}) {
    (void)signal(ignored, SIG_IGN);
  }
  (void)signal(SIGUSR1, SIG_IGN);
  (void)signal(SIGBUS, SIG_DFL);
  sigset_t blocked;
  sigemptyset(&blocked);
  if (death_signal != SIGKILL) {
    (void)signal(death_signal, SIG_DFL);
    sigaddset(&blocked, death_signal);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace

UniqueFd BecomeChild(const char* name, UniqueFd socket, pid_t daemon, int death_signal, UniqueFd* kept) {
  SettleSignals(death_signal);
  prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != daemon) _exit(0);  // it died before we could ask to be told
  return BecomeOwnProcess(name, std::move(socket), kept);
}

UniqueFd BecomeOwnProcess(const char* name, UniqueFd socket, UniqueFd* kept) {
  setsid();
  ProcessTitle().Set(name, name);
  return KeepOnly(std::move(socket), kept);
}

}  // namespace augur
