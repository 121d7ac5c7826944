// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace augur {

// Of a name that a message repeats. Longer than any name that a person types; a path of 4,095 bytes would hide the rest
// of the message.
inline constexpr size_t kExcerptBytesMax = 200;

// The bytes as Printable has them, of at most `bytes_max` of them: the rest is told by its length, "abc... (4,000
// bytes)". No character of UTF-8 is cut in two.
std::string Excerpt(std::string_view bytes, size_t bytes_max = kExcerptBytesMax);

// A count for people: "12,345".
std::string FormatCount(uint64_t count);

}  // namespace augur
