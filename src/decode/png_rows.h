// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/png_header.h"

namespace augur {

// PngRows turns rows of samples, as a PNG holds them once they are inflated and unfiltered, into rows of 8-bit pixels,
// as Pillow's convert does (PIXELS.md). Immutable, any thread. Not for whole images: png_decoder.h.
class PngRows {
 public:
  // `palette` has three bytes an entry; entries that it lacks are black.
  PngRows(const PngHeader& header, bool keep_grey, std::span<const std::byte> palette);

  // Of a pixel: 1 or 3.
  uint32_t channels() const { return channels_; }

  // REQUIRES: `samples` holds out.size() / channels() pixels.
  void Convert(const uint8_t* samples, std::span<uint8_t> out) const;

 private:
  // One sample a pixel that is not wider than a byte: a look-up.
  void ConvertLooked(const uint8_t* samples, std::span<uint8_t> out) const;

  PngColor color_;
  uint8_t bit_depth_;
  uint32_t samples_;  // of a pixel
  uint32_t channels_;
  std::array<std::array<uint8_t, 3>, 256> colors_ = {};  // of a sample's value, for a palette and grey
};

}  // namespace augur
