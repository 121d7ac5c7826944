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
constexpr size_t kHeaderBegin = 12;       // the type of IHDR, where its checksum begins
constexpr size_t kHeaderEnd = 33;         // after IHDR, which is the first chunk and has 13 bytes

uint8_t ChannelsOf(uint8_t color_type) {
  switch (color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 3;  // truecolour, and a palette, whose colours are RGB
  }
}

// CRC-32 as PNG has it, bit by bit: for the 17 bytes of one header a table does not pay.
uint32_t Crc32(std::span<const std::byte> bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1)));
  }
  return ~crc;
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

ImageInfo ProbePng(std::span<const std::byte> head, std::span<const std::byte>* exif_block) {
  // libspng reads IHDR, and looks at its checksum only on the way to the next chunk.
  if (head.size() < kHeaderEnd || Crc32(head.subspan(kHeaderBegin, kHeaderEnd - kChunkTrailerBytes - kHeaderBegin)) !=
                                      BigEndian32(head.data() + kHeaderEnd - kChunkTrailerBytes)) {
    return {};
  }
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  spng_ihdr header = {};
  if (context == nullptr || spng_set_png_buffer(context.get(), head.data(), head.size()) != 0 ||
      spng_get_ihdr(context.get(), &header) != 0) {
    return {};
  }
  const std::span<const std::byte> block = FindExif(head);
  const ExifSummary exif = ReadExif(block);
  if (exif_block != nullptr && exif.bytes > 0) *exif_block = block;
  return {.width = header.width,
          .height = header.height,
          .exif_bytes = exif.bytes,
          .kind = ImageKind::kPng,
          .channels = ChannelsOf(header.color_type),
          .orientation = exif.orientation,
          .bit_depth = header.bit_depth};
}

}  // namespace augur
