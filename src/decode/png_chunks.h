// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/status.h"

namespace augur {

// PngChunks is what of a PNG in memory makes its pixels: the signature, IHDR, PLTE and the first run of IDAT chunks, as
// a stream to read; a DDAT within that run is an IDAT, as for Pillow. The rest (texts, profiles, what nobody knows) is
// left out, so a decoder behind it neither inflates nor keeps it. Keeps nothing but its place, however many chunks
// there are. One thread; the file must outlive it. Not for finding EXIF (png_header.h), nor for the checksums of the
// pixels: the stream has what the file has, and a decoder that shall not look at them must be told so.
class PngChunks {
 public:
  // Walks over `file`. A chunk that the end of the file cuts is taken as far as it goes when it is an IDAT. kCorrupt:
  // no PNG, no IDAT, or, unless `tolerant`, a chunk before the pixels whose name or checksum is wrong; with `tolerant`
  // only a critical one. Source: PngImageFile._open and ChunkStream of Pillow's PngImagePlugin.py.
  static Result<PngChunks> Find(std::span<const std::byte> file, bool tolerant);

  // The palette's bytes, three an entry; empty when there is none.
  std::span<const std::byte> palette() const { return palette_; }

  // Copies the next `bytes` bytes to `to`. False: the stream ends before that; nothing is copied. It stays where it is
  // from the first call on.
  bool Read(void* to, size_t bytes);

 private:
  explicit PngChunks(std::span<const std::byte> file) : file_(file) {}
  void TakePiece();

  std::span<const std::byte> file_;
  std::span<const std::byte> palette_;
  uint64_t left_ = 0;                     // bytes of the stream
  size_t next_ = 0;                       // where in the file the chunk behind piece_ begins
  bool pixels_ = false;                   // piece_ is of the run of IDAT chunks
  std::span<const std::byte> piece_;      // of the stream, not read yet
  std::span<const std::byte> body_;       // comes next: what follows header_
  std::array<std::byte, 8> header_ = {};  // instead of that of a chunk that is cut or a DDAT
};

}  // namespace augur
