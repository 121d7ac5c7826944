// SPDX-License-Identifier: Apache-2.0
#include "decode/axis_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace augur {
namespace {

// The filters, as functions of the distance from the middle in units of the filter. The order of the operations is
// Pillow's: another one rounds otherwise.
double Bilinear(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// Keys' cubic convolution with a = -1/2.
double Bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

double Sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double Lanczos(double x) { return -3.0 <= x && x < 3.0 ? Sinc(x) * Sinc(x / 3) : 0.0; }

struct Filter {
  double (*weight)(double);
  double support;  // the weight is 0 beyond
};

Filter FilterOf(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::kBicubic: return {Bicubic, 2.0};
    case ResizeFilter::kLanczos: return {Lanczos, 3.0};
    case ResizeFilter::kBilinear: break;
  }
  return {Bilinear, 1.0};
}

double ScaleOf(const Axis& axis) { return static_cast<double>(axis.to - axis.from) / axis.out_size; }

// The most pixels that an output takes from.
size_t Taps(const Axis& axis, const Filter& filter) {
  const double support = filter.support * std::max(ScaleOf(axis), 1.0);
  return std::min<size_t>(static_cast<size_t>(std::ceil(support)) * 2 + 1, axis.in_size);
}

// Rounded half away from zero.
int32_t FixedPoint(double weight) {
  constexpr double kOne = 1 << AxisWeights::kWeightBits;
  return static_cast<int32_t>(weight < 0 ? -0.5 + weight * kOne : 0.5 + weight * kOne);
}

}  // namespace

size_t AxisWeights::TapsMax(const Axis& axis) {
  const size_t taps = Taps(axis, FilterOf(axis.filter));
  return (taps + kTapsUnit - 1) / kTapsUnit * kTapsUnit;
}

AxisWeights::AxisWeights(const Axis& axis) : in_size_(axis.in_size), taps_max_(TapsMax(axis)) {
  AUGUR_CHECK(axis.out_size > 0 && axis.from >= 0 && axis.from < axis.to &&
              static_cast<double>(axis.to) <= static_cast<double>(axis.in_size));
  const Filter filter = FilterOf(axis.filter);
  const double scale = ScaleOf(axis);
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter.support * filter_scale;
  const double unit = 1.0 / filter_scale;
  const size_t taps = Taps(axis, filter);
  windows_.reserve(axis.out_size);
  low_.resize(axis.out_size * taps_max_);
  high_.resize(axis.out_size * taps_max_);
  std::vector<double> weights(taps);

  for (uint32_t place = 0; place < axis.out_size; ++place) {
    const double center = axis.from + (place + 0.5) * scale;
    const auto begin = static_cast<int64_t>(std::max(center - support + 0.5, 0.0));
    const auto end = static_cast<int64_t>(std::min(center + support + 0.5, static_cast<double>(axis.in_size)));
    const auto count = static_cast<size_t>(end - begin);
    AUGUR_CHECK(begin < end && count <= taps);
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      weights[i] = filter.weight((static_cast<double>(i + begin) - center + 0.5) * unit);
      sum += weights[i];
    }
    for (size_t i = 0; i < count; ++i) {
      const int32_t weight = FixedPoint(sum != 0.0 ? weights[i] / sum : weights[i]);
      const int32_t high = (weight + (1 << (kDigitBits - 1))) >> kDigitBits;
      high_[place * taps_max_ + i] = static_cast<int16_t>(high);
      low_[place * taps_max_ + i] = static_cast<int16_t>(weight - high * (1 << kDigitBits));
    }
    windows_.push_back({.begin = static_cast<uint32_t>(begin), .count = static_cast<uint32_t>(count)});
  }
}

}  // namespace augur
