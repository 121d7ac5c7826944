// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "augur/status.h"

namespace augur {

// Of small files of settings: profiles, tokens, lists of servers.
inline constexpr size_t kTextFileBytesMax = 1 << 20;

// The bytes of a regular file; links are followed. kNotFound; kInvalid: no regular file, or over kTextFileBytesMax;
// kPermission; kIo. Safe from any thread.
Result<std::string> ReadTextFile(const std::string& path);

}  // namespace augur
