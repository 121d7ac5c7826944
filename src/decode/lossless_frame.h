// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/status.h"

namespace augur {

// The header of a lossless JPEG (SOF3 of ITU-T T.81, Annex H), up to its first scan, of 8 bits and of 1, 3 or 4
// components of one size. Any thread.
struct LosslessFrame {
  static constexpr size_t kComponentsMax = 4;

  uint32_t width = 0;  // pixels
  uint32_t height = 0;
  uint32_t components = 0;  // 1, 3 or 4
  std::array<uint8_t, kComponentsMax> identifiers = {};
  // The components are grey, RGB or CMYK. Those of others are converted by no reader, as that would lose something. Not
  // to be asked of a head without its APP0 and APP14 segments, which say it.
  bool has_pixels = false;
  size_t end = 0;  // of the frame's segment in the file: further segments follow

  // Whether the first frame of `head`, a JPEG, is lossless. Time linear in the segments before it.
  static bool In(std::span<const std::byte> head);

  // REQUIRES: In(head). kCorrupt: cut, or a value without a meaning. kUnsupported: other bits, components or sizes.
  static Result<LosslessFrame> Read(std::span<const std::byte> head);
};

}  // namespace augur
