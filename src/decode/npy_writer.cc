// SPDX-License-Identifier: Apache-2.0
#include "decode/npy_writer.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/check.h"
#include "decode/field_writer.h"
#include "decode/rgb_bytes.h"

namespace augur {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

// The dictionary is padded with spaces so that the pixels begin at a multiple of 64, after NumPy has left room for the
// first axis to grow to 21 digits. The shortest dictionary of three axes has 62 bytes, 10 come before it and a newline
// after it; the longest that 32-bit sides make has 93 with that room: both end at 128.
void WriteHeader(const Image& image, const NpyFormat& format, FieldWriter* out) {
  const bool chw = format.layout == NpyLayout::kChw;
  char text[kNpyHeaderBytes];
  const int bytes = std::snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%u, %u, %u), }",
                                  format.type == NpyType::kU8 ? "|u1" : "<f4", chw ? image.channels : image.height,
                                  chw ? image.height : image.width, chw ? image.width : image.channels);
  constexpr size_t kPrefixBytes = 10;
  AUGUR_CHECK(bytes > 0 && static_cast<size_t>(bytes) < kNpyHeaderBytes - kPrefixBytes);
  out->Text("\x93NUMPY");
  out->U8(1);
  out->U8(0);
  out->Little16(static_cast<uint16_t>(kNpyHeaderBytes - kPrefixBytes));
  out->Bytes(text, static_cast<size_t>(bytes));
  out->Text(std::string(kNpyHeaderBytes - kPrefixBytes - static_cast<size_t>(bytes) - 1, ' '));
  out->U8('\n');
}

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

void WriteRgbFloats(const uint8_t* pixels, size_t count, const NpyFormat& format, std::byte* out) {
  const FloatTable tables[3] = {
      {format.mean[0], format.std[0]}, {format.mean[1], format.std[1]}, {format.mean[2], format.std[2]}};
  if (format.layout == NpyLayout::kHwc) {
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

uint64_t NpyBytes(uint32_t width, uint32_t height, uint32_t channels, NpyType type) {
  return kNpyHeaderBytes + uint64_t{width} * height * channels * (type == NpyType::kU8 ? 1 : sizeof(float));
}

bool KeepsPixels(uint32_t channels, const NpyFormat& format) {
  return format.type == NpyType::kU8 && (format.layout == NpyLayout::kHwc || channels == 1);
}

void WriteNpy(const Image& image, const NpyFormat& format, std::span<std::byte> out) {
  AUGUR_CHECK(image.channels == 1 || image.channels == 3);
  AUGUR_CHECK(out.size() == NpyBytes(image.width, image.height, image.channels, format.type));
  FieldWriter writer(out.data());
  WriteHeader(image, format, &writer);
  const uint8_t* const pixels = image.pixels.get();
  const size_t count = size_t{image.width} * image.height;
  if (format.type == NpyType::kF32) {
    if (image.channels == 1) return WriteFloats(pixels, count, {format.mean[0], format.std[0]}, writer.at());
    return WriteRgbFloats(pixels, count, format, writer.at());
  }
  if (KeepsPixels(image.channels, format)) return writer.Move(pixels, image.bytes());
  auto* const planes = reinterpret_cast<uint8_t*>(writer.at());
  SplitRgb(pixels, count, planes, planes + count, planes + 2 * count);
}

}  // namespace augur
