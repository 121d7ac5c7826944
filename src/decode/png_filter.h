// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace augur {

// The bytes that must be allocated behind a row and the row before it; they may be read and written.
inline constexpr size_t kPngRowSlack = 16;

// Undoes filter `filter` of the PNG specification (section 9) in `row` of `row_bytes` bytes. `previous` is the row
// above it without its filter, or zeros; `pixel_bytes` is 1 to 8, a pixel of fewer bits has 1. False: there is no such
// filter, and nothing is changed. REQUIRES: kPngRowSlack bytes behind both. Any thread.
bool UndoPngFilter(uint8_t filter, size_t pixel_bytes, const uint8_t* previous, size_t row_bytes, uint8_t* row);

}  // namespace augur
