// SPDX-License-Identifier: Apache-2.0
#include "readers/file_set.h"

namespace augur {
namespace {

constexpr uint32_t kFileMask = (1U << 12) - 1;

uint64_t BitOf(EntryNumber file) { return uint64_t{1} << (file & 63); }
size_t WordOf(EntryNumber file) { return (file & kFileMask) >> 6; }

}  // namespace

FileSet::Added FileSet::Add(EntryNumber file) {
  const size_t at = file >> kPieceBits;
  if (at >= pieces_.size()) {
    const uint64_t bytes = (at + 1 - pieces_.size()) * sizeof(pieces_[0]);
    if (!budget_.Take(bytes)) return Added::kUnknown;
    taken_ += bytes;
    // No more than is counted: resize alone might double it.
    pieces_.reserve(at + 1);
    pieces_.resize(at + 1);
  }
  if (!pieces_[at]) {
    if (!budget_.Take(kPieceBytes)) return Added::kUnknown;
    taken_ += kPieceBytes;
    pieces_[at] = std::make_unique<Piece>();
  }
  uint64_t& word = (*pieces_[at])[WordOf(file)];
  if ((word & BitOf(file)) != 0) return Added::kThere;
  word |= BitOf(file);
  count_++;
  return Added::kNew;
}

void FileSet::Remove(EntryNumber file) {
  if (!Has(file)) return;
  (*pieces_[file >> kPieceBits])[WordOf(file)] &= ~BitOf(file);
  count_--;
}

bool FileSet::Has(EntryNumber file) const {
  const size_t at = file >> kPieceBits;
  return at < pieces_.size() && pieces_[at] && ((*pieces_[at])[WordOf(file)] & BitOf(file)) != 0;
}

}  // namespace augur
