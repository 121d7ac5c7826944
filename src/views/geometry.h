// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "decode/decode_options.h"
#include "views/view_spec.h"

namespace augur {

struct ImageExtent {
  uint32_t width = 0;
  uint32_t height = 0;
  uint64_t pixels() const { return uint64_t{width} * height; }
  bool operator==(const ImageExtent&) const = default;
};

// The largest image that is decoded or made: where Pillow's Image.open raises DecompressionBombError. Of 3 bytes a
// pixel these are 512 MiB.
inline constexpr uint64_t kImagePixelsMax = DecodeOptions{}.pixels_max;

// The longest side that is resized, as to Resizer: the floats of Pillow end there.
inline constexpr uint32_t kResizedSideMax = 1U << 24;

// What an image of `image` pixels is resized to. Each side is at least 1; sides that would be longer than 32 bits are
// cut there (nothing of that size passes FitsView). REQUIRES: no side is 0.
ImageExtent ResizedExtent(const ResizeTarget& target, ImageExtent image);

// What becomes of an image in a view: decoded at `decoded`, resized to `resized` (equal if it is not), cropped to
// `cropped` (equal if it is not).
struct ViewGeometry {
  ImageExtent decoded;
  ImageExtent resized;
  ImageExtent cropped;
};

// REQUIRES: no side is 0.
ViewGeometry GeometryOf(const ViewSpec& spec, ImageExtent image);

// What every image becomes in the view, whatever it is. Nothing: they become different ones, or stay as they are.
std::optional<ImageExtent> FixedExtent(const ViewSpec& spec);

// Whether no step has more than kImagePixelsMax pixels, and no side is resized from or to more than kResizedSideMax.
bool FitsView(const ViewGeometry& geometry);

}  // namespace augur
