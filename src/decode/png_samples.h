// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/png_chunks.h"

namespace augur {

// PngSamples gives the rows of a PNG's samples, inflated and without their filters, one after another. It asks zlib for
// a row at a time, of pieces of the size that Pillow asks it of, so that a broken stream breaks at the same row. One
// thread; the PngChunks must outlive it. Not for turning samples into pixels: png_rows.h.
// Source: ImagingZipDecode in src/libImaging/ZipDecode.c and ImageFile.load of Pillow.
class PngSamples {
 public:
  enum class Outcome {
    kRow,
    kLastRow,    // a row, and the stream ends with it, whether the image does or not
    kTruncated,  // the pixels end first
    kBroken,     // they do not inflate, or a filter is unknown: Message()
    kNoMemory,
  };

  // Rows of at most `row_bytes_max` bytes, fewer than 2^32.
  PngSamples(PngChunks* chunks, size_t pixel_bytes, size_t row_bytes_max);
  ~PngSamples();
  PngSamples(const PngSamples&) = delete;
  PngSamples& operator=(const PngSamples&) = delete;

  // What a PngSamples allocates, bytes.
  static uint64_t BytesFor(uint64_t row_bytes_max);

  // The next row lies above nothing: the first of a pass.
  void BeginPass();
  // After kRow and kLastRow row() is the next row, until the next call. After another outcome only Message() may be
  // called. REQUIRES: 0 < row_bytes <= row_bytes_max.
  Outcome Next(size_t row_bytes);
  const uint8_t* row() const { return previous_.data() + 1; }
  const char* Message() const { return message_; }

 private:
  PngChunks* const chunks_;
  const size_t pixel_bytes_;
  z_stream stream_ = {};
  bool ready_ = false;
  const char* message_ = "";
  // Each the filter's number, a row and kPngRowSlack.
  std::vector<uint8_t> current_;
  std::vector<uint8_t> previous_;
};

}  // namespace augur
