// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace augur {

// Rearrangements of 8-bit RGB pixels, in the vector instructions of the processor at hand. Input and output do not
// overlap; no alignment is asked.

// Each channel to a place of its own: `count` bytes at each of the three.
void SplitRgb(const uint8_t* rgb, size_t count, uint8_t* red, uint8_t* green, uint8_t* blue);

// RGB to BGR.
void SwapRedBlue(const uint8_t* rgb, size_t count, uint8_t* bgr);

}  // namespace augur
