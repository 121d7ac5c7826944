// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/unique_fd.h"
#include "store/store_files.h"

namespace augur {

// What the forked helper does: becomes a process of its own (child_process.h), opens the generation of the store again,
// and works on what comes through the socket (helper_message.h) until its other end is closed, the mount is gone from
// its folder, or the daemon, which is process `daemon`, dies. Never returns.
[[noreturn]] void RunHelperProcess(UniqueFd socket, const StorePlace& place, uint64_t generation, pid_t daemon);

}  // namespace augur
