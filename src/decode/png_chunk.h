// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace augur {

inline constexpr size_t kPngMagicBytes = 8;
inline constexpr size_t kPngChunkHeaderBytes = 8;  // length, type

// PngChunk is one chunk of a PNG in memory, as it lies there: nothing of it is checked before it is asked for. The file
// must outlive it. Any thread.
struct PngChunk {
  std::string_view type;             // four bytes
  std::span<const std::byte> whole;  // header, body, checksum; of a cut chunk the bytes that the file has
  std::span<const std::byte> body;
  bool cut = false;  // the file ends within it

  // The chunk that begins at the beginning of `rest`. REQUIRES: rest has kPngChunkHeaderBytes.
  static PngChunk At(std::span<const std::byte> rest);

  // A reader must know it.
  bool critical() const { return (static_cast<unsigned char>(type[0]) & 0x20) == 0; }
  // It is whole and matches its checksum.
  bool sound() const;
  // Its name is of letters, digits and underlines, which Pillow takes for a name.
  bool named() const;
};

uint32_t PngNumber(const std::byte* at);

}  // namespace augur
