// SPDX-License-Identifier: Apache-2.0
#include "decode/png_chunk.h"

#include <libdeflate.h>

#include <algorithm>

namespace augur {
namespace {

constexpr size_t kCrcBytes = 4;

// Not isalnum, which goes by the locale.
bool IsNameLetter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

uint32_t PngNumber(const std::byte* at) {
  return std::to_integer<uint32_t>(at[0]) << 24 | std::to_integer<uint32_t>(at[1]) << 16 |
         std::to_integer<uint32_t>(at[2]) << 8 | std::to_integer<uint32_t>(at[3]);
}

PngChunk PngChunk::At(std::span<const std::byte> rest) {
  const size_t asked = PngNumber(rest.data());
  const size_t there = rest.size() - kPngChunkHeaderBytes;
  PngChunk chunk;
  chunk.type = {reinterpret_cast<const char*>(rest.data()) + 4, 4};
  chunk.cut = there < kCrcBytes || asked > there - kCrcBytes;
  chunk.body = rest.subspan(kPngChunkHeaderBytes, std::min(asked, there));
  chunk.whole = rest.first(std::min(rest.size(), kPngChunkHeaderBytes + asked + kCrcBytes));
  return chunk;
}

bool PngChunk::sound() const {
  return !cut && libdeflate_crc32(0, whole.data() + 4, 4 + body.size()) == PngNumber(whole.last(kCrcBytes).data());
}

bool PngChunk::named() const { return std::ranges::all_of(type, IsNameLetter); }

}  // namespace augur
