// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace augur {

// The bytes [begin, begin + bytes) of an object of `total` bytes.
struct ContentRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> total = {};  // nothing: the server does not say
};

// The value of a header Range: "bytes=0-65535". REQUIRES: bytes > 0.
std::string RangeHeader(uint64_t begin, uint64_t bytes);

// Reads a header Content-Range, "bytes 0-65535/1048576" (RFC 9110, section 14.4). Nothing: it is none.
std::optional<ContentRange> ParseContentRange(std::string_view text);

}  // namespace augur
