// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "augur/status.h"

namespace augur {

// Does `body` in a child process and gives what it gives. For calls that a stopped daemon would make wait for ever, and
// that no signal but SIGKILL ends: what looks at a FUSE mount. kBusy: the child was not done in time; it is killed, and
// ends when the kernel lets it. REQUIRES: one thread.
Result<std::string> InChild(const std::function<Result<std::string>()>& body, std::chrono::milliseconds time_max);

}  // namespace augur
