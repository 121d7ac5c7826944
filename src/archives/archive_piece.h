// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "augur/store.h"

namespace augur {

// A part of an archive: bytes that were made for it.
struct GeneratedPiece {
  std::string bytes;
};

// A part of an archive: bytes of an image's record.
struct ImagePiece {
  Entry image;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A part of an archive: bytes of the masked CRC-32C of an image, which is computed when it is read.
struct ChecksumPiece {
  static constexpr uint64_t kBytes = 4;

  Entry image;
  uint32_t crc_before = 0;  // CRC-32C of what it covers in front of the image
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A part of an archive: bytes of the array that a view makes of an image.
struct ArrayPiece {
  Entry image;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t array_bytes = 0;  // of the whole array
};

using ArchivePiece = std::variant<GeneratedPiece, ImagePiece, ChecksumPiece, ArrayPiece>;

}  // namespace augur
