// SPDX-License-Identifier: Apache-2.0
#include "decode/decode_bounds.h"

#include <string>

namespace augur {

Status CheckBounds(std::string_view format, uint32_t width, uint32_t height, uint64_t memory_bytes,
                   const DecodeOptions& options) {
  const std::string what =
      std::string(format) + ": " + std::to_string(width) + "x" + std::to_string(height) + " pixels: refused: ";
  if (uint64_t{width} * height > options.pixels_max) {
    return {Code::kUnsupported, what + "more than " + std::to_string(options.pixels_max) + " pixels"};
  }
  if (memory_bytes > options.memory_bytes_max) {
    return {Code::kUnsupported, what + "decoding takes " + std::to_string(memory_bytes) +
                                    " bytes of memory, allowed are " + std::to_string(options.memory_bytes_max)};
  }
  return {};
}

}  // namespace augur
