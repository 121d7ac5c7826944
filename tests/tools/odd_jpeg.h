// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/image.h"

namespace augur {

// How to write a JPEG, beyond what Pillow can.
struct OddJpeg {
  // J_COLOR_SPACE of libjpeg of the file: 1 grey, 2 RGB, 3 YCbCr, 4 CMYK, 5 YCCK. The pixels that are given are grey,
  // RGB or CMYK accordingly.
  int space = 3;
  int quality = 90;
  bool progressive = false;
  bool arithmetic = false;
  unsigned restart_rows = 0;
  bool adobe = true;  // whether the Adobe marker stands in it, where libjpeg would write it
  // Horizontal and vertical sampling factors of each component, a digit each.
  std::vector<int> sampling = {22, 11, 11};
};

// The file. `pixels` is rows of as many samples a pixel as the file has components. REQUIRES: what libjpeg takes.
std::vector<std::byte> WriteOddJpeg(const uint8_t* pixels, uint32_t width, uint32_t height, const OddJpeg& how);

}  // namespace augur
