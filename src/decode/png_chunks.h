// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/status.h"
#include "decode/png_header.h"

namespace augur {

// PngChunks is what of a PNG in memory makes its pixels: IHDR, PLTE, and the bytes of the first run of IDAT chunks,
// piece by piece. A DDAT within that run is an IDAT, as for Pillow. The rest (texts, profiles, unknown chunks) is
// passed over: nothing inflates or keeps it. Keeps nothing but its place, however many chunks there are. One thread;
// the file must outlive it. Not for finding EXIF (png_header.h), nor for the checksums of the pixels, which Pillow does
// not look at.
class PngChunks {
 public:
  // Pillow's ImageFile.MAXBLOCK: its inflate sees this much at a time, which shows in what it makes of a broken stream.
  static constexpr size_t kPieceBytesMax = size_t{64} << 10;

  // Walks over `file` up to its pixels. kCorrupt: no PNG, no sound IHDR, no IDAT, or the file ends before it. A palette
  // image without a palette or with one of more than 256 entries. An animation whose first frame is not the whole
  // image, or stands behind another frame. A chunk before the pixels whose name or checksum is wrong. With `tolerant` a
  // checksum counts of a critical chunk alone, and a name is wrong only when it is not ASCII.
  // Source: PngImageFile._open and ChunkStream of Pillow's PngImagePlugin.py.
  static Result<PngChunks> Find(std::span<const std::byte> file, bool tolerant);

  const PngHeader& header() const { return header_; }
  // The palette's bytes, three an entry; empty when the image has none.
  std::span<const std::byte> palette() const { return palette_; }

  // The next piece of the compressed pixels, never empty but at their end. Of a chunk that the end of the file cuts,
  // the bytes that are there are taken.
  std::span<const std::byte> NextPiece();

 private:
  explicit PngChunks(std::span<const std::byte> file) : file_(file) {}

  std::span<const std::byte> file_;
  PngHeader header_;
  std::span<const std::byte> palette_;
  size_t next_ = 0;                  // where in the file the chunk behind body_ begins
  std::span<const std::byte> body_;  // of the chunk that pieces are taken of, the rest
};

}  // namespace augur
