// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "augur/status.h"

namespace augur {

// pread(2) until the bytes are there or the file ends. Returns how many there were. `name` is for messages.
Result<size_t> ReadUpTo(int fd, const std::string& name, std::span<std::byte> bytes, uint64_t offset);

}  // namespace augur
