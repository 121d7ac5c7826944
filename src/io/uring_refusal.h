// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"

namespace augur {

// Why the kernel did not give us io_uring, in words, with the cure: "io_uring is forbidden by ... (EPERM): ...".
// `error` is the errno of the attempt; `sysctl` the content of /proc/sys/kernel/io_uring_disabled, empty when there is
// none.
std::string UringRefusal(int error, const std::string& sysctl);
// kUnsupported, with that text of this machine.
Status UringRefused(int error);

}  // namespace augur
