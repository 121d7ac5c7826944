// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "augur/status.h"

namespace augur {

// Writes all bytes to a file that is open. `path` is for messages. kNoSpace, kIo. Safe from any thread.
Status WriteAll(int fd, std::span<const std::byte> bytes, const std::string& path);

}  // namespace augur
