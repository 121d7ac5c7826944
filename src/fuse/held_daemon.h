// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/unique_fd.h"
#include "fuse/holder_message.h"
#include "fuse/lasting_state.h"

namespace augur {

// Of a pidfd: whether the process or thread has ended. False where there is none.
bool HasEnded(const UniqueFd& pidfd);

// A pidfd of a thread. Invalid: it is gone, or the kernel gives none (before Linux 6.9).
UniqueFd OpenThread(pid_t thread);

// HeldDaemon is one daemon as its Holder sees it. One thread. Allocates nothing.
struct HeldDaemon {
  pid_t pid = -1;  // -1: there is none, or it has ended
  UniqueFd socket;
  UniqueFd process;                // a pidfd
  UniqueFd watch;                  // a pidfd of one of its threads
  std::optional<int> exit_status;  // it said that it ends by itself
  bool is_gone = false;            // it ended, and the kernel collected it, before `process` could be had
  bool takes = false;              // it takes requests
  bool serves = false;             // it is ready

  // A child that was just forked. Where SIGCHLD is ignored, nothing of it may be left by now. One that cannot be
  // watched, as there is no descriptor, is killed, and not there.
  static HeldDaemon Of(pid_t pid, UniqueFd socket);

  bool is_there() const { return pid > 0; }
  bool HasEnded() const { return is_gone || augur::HasEnded(process); }
  // Takes in what any daemon says of itself: kWatch, kExit, kTakes. False: it is another message.
  bool Note(const HolderMessage& message);
  // Of one that has ended: a child that waits to be collected, or what the kernel tells by the pidfd (Linux 6.15).
  // Nothing: it cannot be known.
  std::optional<DaemonDeath> HowItEnded() const;
  // Never waits. A daemon that does not listen is not told.
  void Tell(HolderVerb verb, int32_t value) const;
  // Nothing when it has ended.
  void Signal(int number) const;
};

// What a daemon executes. Without a file: nothing, it is a fork of its Holder.
struct HeldProgram {
  UniqueFd file;
  ProgramRequest request;
};

// The same as waitpid(2) tells it.
int32_t WaitStatus(const DaemonDeath& death);

}  // namespace augur
