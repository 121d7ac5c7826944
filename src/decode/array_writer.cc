// SPDX-License-Identifier: Apache-2.0
#include "decode/array_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "decode/rgb_bytes.h"

namespace augur {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

// There are only 256 pixels a channel: every float is worked out once, as torch does it (a division by 255 and not a
// multiplication by its inverse, which gives another float for 126 of them), and looked up. A lookup costs a load, two
// divisions in vectors of 8 floats cost more.
struct FloatTable {
  float of[256];

  FloatTable(float mean, float std) {
    for (int pixel = 0; pixel < 256; ++pixel) {
      const float scaled = static_cast<float>(pixel) / 255.0F;
      const float centred = scaled - mean;
      of[pixel] = centred / std;
    }
  }

  // Stored by memcpy: the caller's memory may have any alignment.
  void Store(uint8_t pixel, std::byte* out) const { std::memcpy(out, of + pixel, sizeof(float)); }
};

void WriteFloats(const uint8_t* pixels, size_t count, const FloatTable& table, std::byte* out) {
  for (size_t i = 0; i < count; ++i) table.Store(pixels[i], out + i * sizeof(float));
}

void WriteRgbFloats(const uint8_t* pixels, size_t count, const ArrayFormat& format, std::byte* out) {
  const FloatTable tables[3] = {
      {format.mean[0], format.std[0]}, {format.mean[1], format.std[1]}, {format.mean[2], format.std[2]}};
  if (format.layout == ArrayLayout::kHwc) {
    for (size_t i = 0; i < 3 * count; i += 3) {
      for (size_t c = 0; c < 3; ++c) tables[c].Store(pixels[i + c], out + (i + c) * sizeof(float));
    }
    return;
  }
  constexpr size_t kPiece = 2048;  // pixels: three pieces of a plane and the tables stay in the first cache
  uint8_t planes[3][kPiece];
  for (size_t begin = 0; begin < count; begin += kPiece) {
    const size_t piece = std::min(kPiece, count - begin);
    SplitRgb(pixels + 3 * begin, piece, planes[0], planes[1], planes[2]);
    for (size_t c = 0; c < 3; ++c) {
      WriteFloats(planes[c], piece, tables[c], out + (c * count + begin) * sizeof(float));
    }
  }
}

}  // namespace

std::array<uint32_t, 3> ArrayShape(uint32_t width, uint32_t height, uint32_t channels, ArrayLayout layout) {
  if (layout == ArrayLayout::kChw) return {channels, height, width};
  return {height, width, channels};
}

uint64_t ArrayBytes(uint32_t width, uint32_t height, uint32_t channels, ArrayType type) {
  return uint64_t{width} * height * channels * (type == ArrayType::kU8 ? 1 : sizeof(float));
}

bool KeepsPixels(uint32_t channels, const ArrayFormat& format) {
  return format.type == ArrayType::kU8 && (format.layout == ArrayLayout::kHwc || channels == 1);
}

void WriteArray(const Image& image, const ArrayFormat& format, std::span<std::byte> out) {
  AUGUR_CHECK(image.channels == 1 || image.channels == 3);
  AUGUR_CHECK(out.size() == ArrayBytes(image.width, image.height, image.channels, format.type));
  const uint8_t* const pixels = image.pixels.get();
  const size_t count = size_t{image.width} * image.height;
  if (format.type == ArrayType::kF32) {
    if (image.channels == 1) return WriteFloats(pixels, count, {format.mean[0], format.std[0]}, out.data());
    return WriteRgbFloats(pixels, count, format, out.data());
  }
  auto* const bytes = reinterpret_cast<uint8_t*>(out.data());
  if (KeepsPixels(image.channels, format)) {
    if (pixels != bytes) std::memmove(bytes, pixels, out.size());
    return;
  }
  SplitRgb(pixels, count, bytes, bytes + count, bytes + 2 * count);
}

}  // namespace augur
