// SPDX-License-Identifier: Apache-2.0
#include "archives/sample_begins.h"

#include <variant>

namespace augur {
namespace {

uint64_t BytesOf(const GeneratedPiece& piece) { return piece.bytes.size(); }
uint64_t BytesOf(const ImagePiece& piece) { return piece.bytes; }
uint64_t BytesOf(const ChecksumPiece& piece) { return piece.bytes; }
uint64_t BytesOf(const ArrayPiece& piece) { return piece.bytes; }

// The image whose first byte the piece has.
const Entry* BegunBy(const ArchivePiece& piece) {
  if (const auto* const image = std::get_if<ImagePiece>(&piece)) return image->offset == 0 ? &image->image : nullptr;
  if (const auto* const array = std::get_if<ArrayPiece>(&piece)) return array->offset == 0 ? &array->image : nullptr;
  return nullptr;
}

}  // namespace

std::vector<SampleBegin> SampleBegins(std::span<const ArchivePiece> pieces, uint64_t offset) {
  std::vector<SampleBegin> begins;
  for (const ArchivePiece& piece : pieces) {
    if (const Entry* const image = BegunBy(piece)) begins.push_back({.at = offset, .image = *image});
    offset += std::visit([](const auto& one) { return BytesOf(one); }, piece);
  }
  return begins;
}

}  // namespace augur
