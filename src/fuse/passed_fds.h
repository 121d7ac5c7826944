// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/unique_fd.h"

namespace augur {

// Descriptors that travel with a packet through a Unix socket (SCM_RIGHTS of unix(7)), between the daemon and the
// processes that it has forked. At most this many.
inline constexpr size_t kPassedFdsMax = 4;

// Sends one packet, and copies of `fds`. Waits while the socket is full. False: the other end is gone, or errno says
// what else.
bool SendWithFds(int socket, std::span<const std::byte> packet, std::span<const int> fds, int flags = 0);

// Receives one packet, whatever signals come meanwhile. Returns its bytes, 0 when the other end is gone, -1 with errno.
// The descriptors that came with it are appended to `fds`, close-on-exec. When the other end has gone without reading
// all that we sent, the kernel tells that once (ECONNRESET), before what the other end had sent (net/unix/af_unix.c).
// The function receives that all the same.
ssize_t ReceiveWithFds(int socket, std::span<std::byte> packet, std::vector<UniqueFd>& fds, int flags = 0);

}  // namespace augur
