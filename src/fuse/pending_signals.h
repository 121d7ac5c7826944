// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/held_daemon.h"

namespace augur {

// PendingSignals are the signals by which others speak to a mount (TERM, INT, HUP, USR1), as its Holder keeps them for
// the daemon that runs, or the next one. One thread. Allocates nothing.
class PendingSignals {
 public:
  // Blocks them in this thread: from now on they come here. kIo: the system gives no descriptor.
  static Result<PendingSignals> Block();

  // Readable when there is something to take.
  int fd() const { return signals_.get(); }
  // Takes what has come. Returns whether there was anything.
  bool Take();
  // Sends the daemon each that is kept, SIGUSR1 first. All but SIGUSR1 end the mount, and stay: a daemon that dies
  // before it has said so leaves them to the next one.
  void PassTo(const HeldDaemon& daemon);

 private:
  explicit PendingSignals(UniqueFd signals) : signals_(std::move(signals)) { sigemptyset(&kept_); }

  UniqueFd signals_;
  sigset_t kept_{};
};

}  // namespace augur
