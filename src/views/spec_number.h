// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace augur {

// Numbers of a SPEC: decimal digits, and a point with digits behind it if there is one; no sign, no exponent (a + joins
// words), at most 24 characters.

// The float that a script has who writes this number to Normalize: Python reads a double, torch rounds it to float32.
// None: not such a number.
std::optional<float> ParseSpecNumber(std::string_view text);

// The shortest such number that reads back as `number`. REQUIRES: `number` was read by ParseSpecNumber and is
// at most 1.
std::string FormatSpecNumber(float number);

}  // namespace augur
