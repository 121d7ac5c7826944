// SPDX-License-Identifier: Apache-2.0
#include "views/geometry.h"

#include <algorithm>

#include "base/check.h"

namespace augur {
namespace {

// The other side when `side` becomes `wanted`. torchvision has int(wanted * other / side) with a division of Python's
// integers to a double. While wanted * other is below 2^53 the double is never rounded up to the next integer, so that
// this is the division of integers; it is below 2^48 here.
uint32_t Scaled(uint32_t wanted, uint32_t other, uint32_t side) {
  const uint64_t scaled = uint64_t{wanted} * other / side;
  return static_cast<uint32_t>(std::clamp<uint64_t>(scaled, 1, UINT32_MAX));
}

}  // namespace

ImageExtent ResizedExtent(const ResizeTarget& target, ImageExtent image) {
  AUGUR_CHECK(image.width > 0 && image.height > 0);
  if (target.fit == Fit::kSquash) return {.width = target.width, .height = target.height};
  // Which side the target decides: the one that asks for the larger scale covers it, the other stays inside.
  const uint64_t by_width = uint64_t{target.width} * image.height;
  const uint64_t by_height = uint64_t{target.height} * image.width;
  const bool width_decides = target.fit == Fit::kShort ? by_width >= by_height : by_width <= by_height;
  if (width_decides) return {.width = target.width, .height = Scaled(target.width, image.height, image.width)};
  return {.width = Scaled(target.height, image.width, image.height), .height = target.height};
}

ViewGeometry GeometryOf(const ViewSpec& spec, ImageExtent image) {
  ViewGeometry geometry;
  geometry.decoded = image;
  geometry.resized = spec.size ? ResizedExtent(*spec.size, image) : image;
  geometry.cropped = spec.crop > 0 ? ImageExtent{.width = spec.crop, .height = spec.crop} : geometry.resized;
  return geometry;
}

std::optional<ImageExtent> FixedExtent(const ViewSpec& spec) {
  if (spec.crop > 0) return ImageExtent{.width = spec.crop, .height = spec.crop};
  if (!spec.size || spec.size->fit != Fit::kSquash) return std::nullopt;
  return ImageExtent{.width = spec.size->width, .height = spec.size->height};
}

bool FitsView(const ViewGeometry& geometry) {
  const auto& [decoded, resized, cropped] = geometry;
  if (std::max({decoded.pixels(), resized.pixels(), cropped.pixels()}) > kImagePixelsMax) return false;
  return decoded == resized ||
         std::max({decoded.width, decoded.height, resized.width, resized.height}) <= kResizedSideMax;
}

}  // namespace augur
