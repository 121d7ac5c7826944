// SPDX-License-Identifier: Apache-2.0
#include "pack/decompressor.h"

#include <utility>

namespace augur {

Result<std::unique_ptr<Decompressor>> Decompressor::Open(ArchiveReader::Source source, std::span<const std::byte> head,
                                                         const std::string& name) {
  std::unique_ptr<Decompressor> opened(new Decompressor);
  if (GzipStream::Recognizes(head)) {
    opened->gzip_ = std::make_unique<GzipStream>(std::move(source), name);
    return opened;
  }
  AUGUR_TRY_ASSIGN(reader, ArchiveReader::Open(std::move(source), ArchiveReader::Formats::kBytes, name));
  opened->other_ = std::move(reader);
  Member all;
  AUGUR_TRY(opened->other_->NextMember(&all).status());
  return opened;
}

Result<std::span<const std::byte>> Decompressor::Next() {
  if (gzip_ != nullptr) return gzip_->Next();
  MemberPiece piece;
  do {
    AUGUR_TRY_ASSIGN(more, other_->NextPiece(&piece));
    if (!more) return std::span<const std::byte>();
  } while (piece.bytes.empty());
  return piece.bytes;
}

bool Decompressor::compressed() const { return gzip_ != nullptr || other_->compressed(); }

}  // namespace augur
