// SPDX-License-Identifier: Apache-2.0
#include "decode/center_crop.h"

#include <algorithm>
#include <cstring>

namespace augur {
namespace {

// One side of the crop: what comes before the image, what is taken of it, and from where.
struct Side {
  uint32_t zeros = 0;
  uint32_t begin = 0;
  uint32_t taken = 0;
};

Side SideOf(uint32_t side, uint32_t crop) {
  const int64_t begin = CenterCropBegin(side, crop);
  if (begin >= 0) return {.begin = static_cast<uint32_t>(begin), .taken = std::min(side, crop)};
  return {.zeros = static_cast<uint32_t>(-begin), .taken = side};
}

}  // namespace

int64_t CenterCropBegin(uint32_t side, uint32_t crop) {
  // Padded to exactly the size of the crop: what is taken of the padded image then begins at 0.
  if (crop > side) return -static_cast<int64_t>((crop - side) / 2);
  const uint32_t over = side - crop;
  const uint32_t half = over / 2;
  return over % 2 == 0 ? half : half + half % 2;
}

Image CenterCrop(const Image& image, uint32_t width, uint32_t height) {
  Image out = MakeImage(width, height, image.channels);
  const Side x = SideOf(image.width, width);
  const Side y = SideOf(image.height, height);
  if (x.taken < width || y.taken < height) std::memset(out.pixels.get(), 0, out.bytes());
  const size_t bytes = size_t{x.taken} * image.channels;
  for (uint32_t row = 0; row < y.taken; ++row) {
    std::memcpy(out.pixels.get() + (y.zeros + row) * out.row_bytes() + size_t{x.zeros} * image.channels,
                image.pixels.get() + (y.begin + row) * image.row_bytes() + size_t{x.begin} * image.channels, bytes);
  }
  return out;
}

}  // namespace augur
