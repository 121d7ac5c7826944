// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "augur/status.h"

namespace augur {

// PngChunks is what of a PNG in memory makes its pixels: the signature, IHDR, PLTE and the first run of IDAT chunks, as
// a stream to read. The rest (texts, profiles, what nobody knows) is left out, so a decoder behind it neither inflates
// nor keeps it. Immutable but for its place in the stream; one thread; the file must outlive it. Not for finding EXIF
// (png_header.h).
class PngChunks {
 public:
  // Walks over `file`. A chunk that the end of the file cuts is taken as far as it goes when it is an IDAT. kCorrupt:
  // no PNG, no IDAT, or, unless `tolerant`, a chunk before the pixels whose name or checksum is wrong; with `tolerant`
  // only a critical one. Source: PngImageFile._open and ChunkStream of Pillow's PngImagePlugin.py.
  static Result<PngChunks> Find(std::span<const std::byte> file, bool tolerant);

  // The palette's bytes, three an entry; empty when there is none.
  std::span<const std::byte> palette() const { return palette_; }

  // Copies the next `bytes` bytes to `to`. False: the stream ends before that; nothing is copied.
  bool Read(void* to, size_t bytes);

 private:
  PngChunks() = default;

  std::vector<std::span<const std::byte>> pieces_;
  std::span<const std::byte> palette_;
  // What stands in pieces_ instead of what the file has: the checksums of the pixels, as they should be, and the header
  // of a cut chunk. A deque, whose elements stay where they are.
  std::deque<std::array<std::byte, 4>> checksums_;
  std::vector<std::byte> cut_header_;
  size_t piece_ = 0;  // the place: piece_, and place_ bytes of it
  size_t place_ = 0;
  size_t left_ = 0;  // bytes behind the place, all pieces
};

}  // namespace augur
