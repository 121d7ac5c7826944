// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace augur {

enum class ResizeFilter : uint8_t { kBilinear, kBicubic, kLanczos };

// What one axis of a resize is worked out from: `out_size` pixels from the part [from, to) of `in_size` pixels.
// REQUIRES: out_size > 0, 0 <= from < to <= in_size.
struct Axis {
  uint32_t in_size = 0;
  uint32_t out_size = 0;
  float from = 0;
  float to = 0;
  ResizeFilter filter = ResizeFilter::kBilinear;
  // Whether a pass along the axis changes nothing and is left out.
  bool IsIdentity() const { return in_size == out_size && from == 0 && to == static_cast<float>(out_size); }
  auto operator<=>(const Axis&) const = default;
};

// AxisWeights is what each pixel along one axis takes from which pixels, in the fixed point of Pillow: the sum of
// weight times pixel, rounded, divided by 2^kWeightBits. Immutable, any thread. Source: precompute_coeffs and
// normalize_coeffs_8bpc of Pillow's Resample.c, whose every rounding matters: the pixels shall be the same.
//
// A weight is kept as two 16-bit digits, low + high * 2^kDigitBits, for a processor's multiply-and-add of 16-bit pairs.
// Low is from -2^14 to 2^14 - 1. High is at most 2^10, since no weight is beyond 4 (in fixed point, 2^24).
class AxisWeights {
 public:
  static constexpr int kWeightBits = 22;  // 32, less 8 for the pixel and 2 for the filters' overshoot
  static constexpr int kDigitBits = 15;
  // Tables of weights are padded with zeros to a multiple of this.
  static constexpr size_t kTapsUnit = 4;

  explicit AxisWeights(const Axis& axis);

  // The pixels that output `place` takes from: count(place) of them from begin(place) on. Both ends never go back as
  // `place` grows.
  uint32_t begin(uint32_t place) const { return windows_[place].begin; }
  uint32_t count(uint32_t place) const { return windows_[place].count; }
  // The digits of the weights of these pixels, and zeros up to taps_max().
  const int16_t* low(uint32_t place) const { return low_.data() + place * taps_max_; }
  const int16_t* high(uint32_t place) const { return high_.data() + place * taps_max_; }

  // What taps_max() and bytes() would be, without making anything.
  static size_t TapsMax(const Axis& axis);
  static size_t Bytes(const Axis& axis) {
    return axis.out_size * (sizeof(Window) + 2 * TapsMax(axis) * sizeof(int16_t));
  }

  uint32_t in_size() const { return in_size_; }
  uint32_t out_size() const { return static_cast<uint32_t>(windows_.size()); }
  // The most that count() is, rounded up to kTapsUnit.
  size_t taps_max() const { return taps_max_; }
  // One after the last pixel that any output takes from.
  uint32_t end() const { return windows_.back().begin + windows_.back().count; }
  size_t bytes() const { return windows_.size() * (sizeof(Window) + 2 * taps_max_ * sizeof(int16_t)); }

 private:
  struct Window {
    uint32_t begin;
    uint32_t count;
  };

  // Constant after construction.
  uint32_t in_size_;
  size_t taps_max_;
  std::vector<Window> windows_;
  std::vector<int16_t> low_;  // taps_max_ for each output
  std::vector<int16_t> high_;
};

}  // namespace augur
