// SPDX-License-Identifier: Apache-2.0
#include "decode/bmp_writer.h"

#include <cstring>

#include "base/check.h"
#include "decode/field_writer.h"
#include "decode/rgb_bytes.h"

namespace augur {
namespace {

constexpr uint32_t kFileHeaderBytes = 14;
constexpr uint32_t kInfoHeaderBytes = 40;
constexpr uint32_t kGreys = 256;
constexpr uint32_t kPixelsPerMetre = 2835;  // 72 to the inch, what most writers put there

uint32_t PixelsAt(uint32_t channels) { return kFileHeaderBytes + kInfoHeaderBytes + (channels == 1 ? 4 * kGreys : 0); }

uint64_t PaddedRowBytes(uint32_t width, uint32_t channels) { return (uint64_t{width} * channels + 3) / 4 * 4; }

}  // namespace

bool FitsBmp(uint32_t width, uint32_t height, uint32_t channels) {
  return width > 0 && height > 0 && width <= INT32_MAX && height <= INT32_MAX &&
         PaddedRowBytes(width, channels) <= (uint64_t{UINT32_MAX} - PixelsAt(channels)) / height;
}

uint64_t BmpBytes(uint32_t width, uint32_t height, uint32_t channels) {
  AUGUR_CHECK(FitsBmp(width, height, channels));
  return PixelsAt(channels) + PaddedRowBytes(width, channels) * height;
}

void WriteBmp(const Image& image, std::span<std::byte> out) {
  AUGUR_CHECK(out.size() == BmpBytes(image.width, image.height, image.channels));
  const uint32_t pixels_at = PixelsAt(image.channels);
  FieldWriter writer(out.data());
  writer.Text("BM");
  writer.Little32(static_cast<uint32_t>(out.size()));
  writer.Little32(0);  // reserved
  writer.Little32(pixels_at);
  writer.Little32(kInfoHeaderBytes);
  writer.Little32(image.width);
  writer.Little32(image.height);                               // above 0: from bottom to top
  writer.Little16(1);                                          // planes
  writer.Little16(static_cast<uint16_t>(8 * image.channels));  // bits of a pixel
  writer.Little32(0);                                          // not compressed
  writer.Little32(static_cast<uint32_t>(out.size()) - pixels_at);
  writer.Little32(kPixelsPerMetre);
  writer.Little32(kPixelsPerMetre);
  writer.Little32(image.channels == 1 ? kGreys : 0);  // colours of the palette
  writer.Little32(0);                                 // of which all count
  if (image.channels == 1) {
    for (uint32_t grey = 0; grey < kGreys; ++grey) writer.Little32(grey * 0x010101);
  }
  const size_t padding = PaddedRowBytes(image.width, image.channels) - image.row_bytes();
  for (uint32_t row = image.height; row-- > 0;) {
    const uint8_t* const pixels = image.pixels.get() + row * image.row_bytes();
    if (image.channels == 1) {
      writer.Bytes(pixels, image.row_bytes());
    } else {
      SwapRedBlue(pixels, image.width, reinterpret_cast<uint8_t*>(writer.at()));
      writer.Skip(image.row_bytes());
    }
    for (size_t i = 0; i < padding; ++i) writer.U8(0);
  }
  AUGUR_CHECK(writer.at() == out.data() + out.size());
}

}  // namespace augur
