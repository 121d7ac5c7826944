// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"
#include "fuse/broker.h"

namespace augur {

// What the forked broker does: becomes a process of its own (child_process.h), answers what comes through the socket
// (broker_message.h) until its other end is closed or the daemon, which is process `daemon`, dies, and aborts the
// mount's connection in the end. Never returns.
[[noreturn]] void RunBrokerProcess(UniqueFd socket, MountPoint& point, const BrokerOptions& options, pid_t daemon);

}  // namespace augur
