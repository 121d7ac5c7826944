// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"

namespace augur {

// Makes a child that the daemon has just forked a process of its own: named `name`, in a session of its own, with
// "/dev/null" as its streams. It keeps no descriptor of the daemon but `socket` and `kept`, and ignores the signals
// that speak to a daemon. The kernel sends it `death_signal` when the thread of process `daemon` that forked it ends.
// Returns the socket. Ends the process when the daemon is gone already.
UniqueFd BecomeChild(const char* name, UniqueFd socket, pid_t daemon, int death_signal, UniqueFd* kept = nullptr);

// The same for a process that outlives the daemon: `socket` and `kept` alone, and no signal when another process ends.
UniqueFd BecomeOwnProcess(const char* name, UniqueFd socket, UniqueFd* kept);

}  // namespace augur
