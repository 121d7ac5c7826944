// SPDX-License-Identifier: Apache-2.0
#include "archives/touched_samples.h"

#include <variant>

namespace augur {
namespace {

uint64_t BytesOf(const GeneratedPiece& piece) { return piece.bytes.size(); }
uint64_t BytesOf(const ImagePiece& piece) { return piece.bytes; }
uint64_t BytesOf(const ChecksumPiece& piece) { return piece.bytes; }
uint64_t BytesOf(const ArrayPiece& piece) { return piece.bytes; }

}  // namespace

std::vector<TouchedSample> TouchedSamples(std::span<const ArchivePiece> pieces, uint64_t offset) {
  std::vector<TouchedSample> touched;
  for (const ArchivePiece& piece : pieces) {
    if (const auto* const image = std::get_if<ImagePiece>(&piece)) {
      const uint64_t begin = offset - image->offset;
      touched.push_back({.begin = begin, .end = begin + image->image.size, .image = image->image});
    } else if (const auto* const array = std::get_if<ArrayPiece>(&piece)) {
      const uint64_t begin = offset - array->offset;
      touched.push_back({.begin = begin, .end = begin + array->array_bytes, .image = array->image});
    }
    offset += std::visit([](const auto& one) { return BytesOf(one); }, piece);
  }
  return touched;
}

}  // namespace augur
