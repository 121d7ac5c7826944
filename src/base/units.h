// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;

// Reads a size in bytes: decimal digits and an optional K, M, G or T (either case), powers of 1024: "512M".
// kInvalid for anything else, with a text that echoes the input and the accepted form.
Result<uint64_t> ParseSize(std::string_view text);

// Reads a decimal number without sign or unit. kInvalid as above.
Result<uint64_t> ParseCount(std::string_view text);

// The size for people: "1.4 GiB", "512 bytes".
std::string FormatSize(uint64_t bytes);

// The bytes of a path or name for a terminal or a log: printable UTF-8 as it is; control characters, backslashes
// and bytes that are not UTF-8 as \xHH.
std::string Printable(std::string_view bytes);

}  // namespace augur
