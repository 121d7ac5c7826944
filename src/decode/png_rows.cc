// SPDX-License-Identifier: Apache-2.0
#include "decode/png_rows.h"

#include <algorithm>

namespace augur {
namespace {

bool IsGrey(PngColor color) { return color == PngColor::kGrey || color == PngColor::kGreyAlpha; }

}  // namespace

PngRows::PngRows(const PngHeader& header, bool keep_grey, std::span<const std::byte> palette)
    : color_(header.color),
      bit_depth_(header.bit_depth),
      samples_(header.samples()),
      channels_(keep_grey && IsGrey(header.color) ? 1 : 3) {
  if (color_ == PngColor::kPalette) {
    const size_t entries = std::min(palette.size() / 3, colors_.size());
    for (size_t i = 0; i < entries * 3; ++i) colors_[i / 3][i % 3] = std::to_integer<uint8_t>(palette[i]);
  } else if (bit_depth_ <= 8) {
    // Grey of few bits is spread over 0 to 255: 1, 2, 4 and 8 bits have 255 / 1, 3, 15 and 255 to a step.
    const unsigned step = 255U / ((1U << bit_depth_) - 1);
    for (unsigned value = 0; value < 1U << bit_depth_; ++value) colors_[value].fill(static_cast<uint8_t>(value * step));
  }
}

void PngRows::ConvertLooked(const uint8_t* samples, std::span<uint8_t> out) const {
  const size_t pixels = out.size() / channels_;
  const unsigned mask = (1U << bit_depth_) - 1;
  for (size_t x = 0; x < pixels; ++x) {
    const size_t bit = x * bit_depth_;
    const std::array<uint8_t, 3>& color = colors_[samples[bit / 8] >> (8 - bit_depth_ - bit % 8) & mask];
    std::copy_n(color.begin(), channels_, out.data() + x * channels_);
  }
}

void PngRows::Convert(const uint8_t* samples, std::span<uint8_t> out) const {
  const size_t sample_bytes = bit_depth_ == 16 ? 2 : 1;
  const size_t pixels = out.size() / channels_;
  const size_t step = samples_ * sample_bytes;
  if (step == 1) {
    ConvertLooked(samples, out);
  } else if (color_ == PngColor::kGrey) {
    // 16 bits, of which Pillow's mode I;16 does not take the high ones but what fits: I16_L and I16_RGB in its
    // Convert.c.
    for (size_t x = 0; x < pixels; ++x) {
      const uint8_t value = samples[x * 2] == 0 ? samples[x * 2 + 1] : 255;
      std::fill_n(out.data() + x * channels_, channels_, value);
    }
  } else if (color_ == PngColor::kGreyAlpha) {
    for (size_t x = 0; x < pixels; ++x) std::fill_n(out.data() + x * channels_, channels_, samples[x * step]);
  } else if (step == 3) {
    std::copy_n(samples, out.size(), out.data());
  } else {
    for (size_t x = 0; x < pixels; ++x) {
      for (size_t channel = 0; channel < 3; ++channel)
        out[x * 3 + channel] = samples[x * step + channel * sample_bytes];
    }
  }
}

}  // namespace augur
