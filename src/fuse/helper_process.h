// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "augur/store.h"
#include "base/unique_fd.h"

namespace augur {

// What the forked helper does: becomes a process of its own (name, session, signals, descriptors), then works on what
// comes through `socket` (helper_message.h) until its other end is closed or the daemon dies. Holds neither descriptors
// nor memory of the daemon's but the mapped index of `store`. `daemon` is the process that forked it. Never returns.
[[noreturn]] void RunHelperProcess(UniqueFd socket, const Store& store, pid_t daemon);

}  // namespace augur
