// SPDX-License-Identifier: Apache-2.0
#include "decode/png_header.h"

#include <array>
#include <cstring>

#include "decode/exif.h"
#include "decode/png_chunk.h"

namespace augur {
namespace {

constexpr std::array<unsigned char, kPngMagicBytes> kPngMagic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr size_t kHeaderBodyBytes = 13;
constexpr uint32_t kSideMax = 0x7FFFFFFF;

bool HasMeaning(uint8_t color, uint8_t depth) {
  const bool byte_or_two = depth == 8 || depth == 16;
  switch (color) {
    case static_cast<uint8_t>(PngColor::kGrey): return byte_or_two || depth == 1 || depth == 2 || depth == 4;
    case static_cast<uint8_t>(PngColor::kPalette): return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case static_cast<uint8_t>(PngColor::kRgb):
    case static_cast<uint8_t>(PngColor::kGreyAlpha):
    case static_cast<uint8_t>(PngColor::kRgbAlpha): return byte_or_two;
    default: return false;
  }
}

// A palette counts as its colours.
uint8_t ChannelsOf(const PngHeader& header) {
  return static_cast<uint8_t>(header.color == PngColor::kPalette ? 3 : header.samples());
}

}  // namespace

std::optional<PngHeader> PngHeader::Read(std::span<const std::byte> body) {
  if (body.size() < kHeaderBodyBytes) return std::nullopt;
  const auto depth = std::to_integer<uint8_t>(body[8]);
  const auto color = std::to_integer<uint8_t>(body[9]);
  const bool filtered_as_known = body[11] == std::byte{0};
  const PngHeader header{.width = PngNumber(body.data()),
                         .height = PngNumber(body.data() + 4),
                         .color = static_cast<PngColor>(color),
                         .bit_depth = depth,
                         .interlaced = body[12] != std::byte{0}};
  if (!HasMeaning(color, depth) || !filtered_as_known || header.width == 0 || header.height == 0 ||
      header.width > kSideMax || header.height > kSideMax) {
    return std::nullopt;
  }
  return header;
}

uint32_t PngHeader::samples() const {
  switch (color) {
    case PngColor::kRgb: return 3;
    case PngColor::kGreyAlpha: return 2;
    case PngColor::kRgbAlpha: return 4;
    default: return 1;
  }
}

bool LooksLikePng(std::span<const std::byte> head) {
  return head.size() >= kPngMagic.size() && std::memcmp(head.data(), kPngMagic.data(), kPngMagic.size()) == 0;
}

ImageInfo ProbePng(std::span<const std::byte> head, std::span<const std::byte>* exif_block) {
  std::optional<PngHeader> header;
  std::span<const std::byte> block;
  bool pixels = false;
  for (size_t at = kPngMagic.size(); head.size() >= at && head.size() - at >= kPngChunkHeaderBytes;) {
    const PngChunk chunk = PngChunk::At(head.subspan(at));
    if (chunk.type == "IEND") break;
    pixels = pixels || (chunk.type == "IDAT" && header);
    if (chunk.type == "IHDR" && !pixels) {
      header = chunk.sound() ? PngHeader::Read(chunk.body) : std::nullopt;
      if (!header) break;
    } else if (chunk.type == "eXIf" && !chunk.cut && block.empty()) {
      block = TiffOf(chunk.body);
    }
    at += chunk.whole.size();
  }
  if (!header) return {};
  const ExifSummary exif = ReadExif(block);
  if (exif_block != nullptr && exif.bytes > 0) *exif_block = block;
  return {.width = header->width,
          .height = header->height,
          .exif_bytes = exif.bytes,
          .kind = ImageKind::kPng,
          .channels = ChannelsOf(*header),
          .orientation = exif.orientation,
          .bit_depth = header->bit_depth};
}

}  // namespace augur
