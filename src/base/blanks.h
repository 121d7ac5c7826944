// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace augur {

// Blanks, and the ends of lines.
inline constexpr std::string_view kBlanks = " \t\r\n";

// The text without the blanks at its begin and its end, which are the characters of `blanks`.
inline std::string_view WithoutBlanks(std::string_view text, std::string_view blanks = kBlanks) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace augur
