// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/unique_fd.h"
#include "store/store_files.h"

namespace augur {

// The work of the forked helper. It becomes a process of its own (child_process.h), opens the generation of the store
// again, and obeys the messages of the socket (helper_message.h). It ends when the other end of the socket is closed,
// the mount is gone from its folder, or the daemon, which is process `daemon`, dies. Never returns.
[[noreturn]] void RunHelperProcess(UniqueFd socket, const StorePlace& place, uint64_t generation, pid_t daemon);

}  // namespace augur
