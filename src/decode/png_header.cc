// SPDX-License-Identifier: Apache-2.0
#include "decode/png_header.h"

#include <spng.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "decode/exif.h"

namespace augur {
namespace {

constexpr std::array<unsigned char, 8> kPngMagic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr size_t kChunkHeaderBytes = 8;   // length, type
constexpr size_t kChunkTrailerBytes = 4;  // CRC-32

uint8_t ChannelsOf(uint8_t color_type) {
  switch (color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 3;  // truecolour, and a palette, whose colours are RGB
  }
}

uint32_t BigEndian32(const std::byte* at) {
  return std::to_integer<uint32_t>(at[0]) << 24 | std::to_integer<uint32_t>(at[1]) << 16 |
         std::to_integer<uint32_t>(at[2]) << 8 | std::to_integer<uint32_t>(at[3]);
}

// The body of the eXIf chunk, or nothing. Walks from chunk to chunk itself: libspng would inflate every text and
// profile chunk on its way, and stops at the pixels.
std::span<const std::byte> FindExif(std::span<const std::byte> head) {
  size_t at = kPngMagic.size();
  while (head.size() - at >= kChunkHeaderBytes + kChunkTrailerBytes) {
    const uint32_t bytes = BigEndian32(head.data() + at);
    const size_t room = head.size() - at - kChunkHeaderBytes - kChunkTrailerBytes;
    if (bytes > room) break;
    const std::byte* const type = head.data() + at + 4;
    if (std::memcmp(type, "eXIf", 4) == 0) return head.subspan(at + kChunkHeaderBytes, bytes);
    if (std::memcmp(type, "IEND", 4) == 0) break;
    at += kChunkHeaderBytes + bytes + kChunkTrailerBytes;
  }
  return {};
}

}  // namespace

bool LooksLikePng(std::span<const std::byte> head) {
  return head.size() >= kPngMagic.size() && std::memcmp(head.data(), kPngMagic.data(), kPngMagic.size()) == 0;
}

ImageInfo ProbePng(std::span<const std::byte> head) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  spng_ihdr header = {};
  if (context == nullptr || spng_set_png_buffer(context.get(), head.data(), head.size()) != 0 ||
      spng_get_ihdr(context.get(), &header) != 0) {
    return {};
  }
  const ExifSummary exif = ReadExif(FindExif(head));
  return {.width = header.width,
          .height = header.height,
          .exif_bytes = exif.bytes,
          .kind = ImageKind::kPng,
          .channels = ChannelsOf(header.color_type),
          .orientation = exif.orientation,
          .bit_depth = header.bit_depth};
}

}  // namespace augur
