// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"
#include "fuse/broker.h"

namespace augur {

// The work of the forked broker. It becomes a process of its own (child_process.h). It answers the messages of the
// socket (broker_message.h) until its other end is closed or the daemon, which is process `daemon`, dies. In the end it
// aborts the mount's connection. Never returns.
[[noreturn]] void RunBrokerProcess(UniqueFd socket, MountPoint& point, const BrokerOptions& options, pid_t daemon);

}  // namespace augur
