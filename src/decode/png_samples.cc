// SPDX-License-Identifier: Apache-2.0
#include "decode/png_samples.h"

#include <algorithm>

#include "base/check.h"
#include "decode/png_filter.h"

namespace augur {

PngSamples::PngSamples(PngChunks* chunks, size_t pixel_bytes, size_t row_bytes_max)
    : chunks_(chunks),
      pixel_bytes_(pixel_bytes),
      current_(1 + row_bytes_max + kPngRowSlack),
      previous_(1 + row_bytes_max + kPngRowSlack) {
  AUGUR_CHECK(row_bytes_max < UINT32_MAX);
  ready_ = inflateInit(&stream_) == Z_OK;
}

PngSamples::~PngSamples() {
  if (ready_) inflateEnd(&stream_);
}

uint64_t PngSamples::BytesFor(uint64_t row_bytes_max) { return 2 * (1 + row_bytes_max + kPngRowSlack); }

void PngSamples::BeginPass() { std::ranges::fill(previous_, uint8_t{0}); }

PngSamples::Outcome PngSamples::Next(size_t row_bytes) {
  if (!ready_) return Outcome::kNoMemory;
  AUGUR_CHECK(row_bytes > 0 && row_bytes + 1 + kPngRowSlack <= current_.size());
  stream_.next_out = current_.data();
  stream_.avail_out = static_cast<uInt>(row_bytes + 1);
  int result = Z_OK;
  // Once more after the row's last byte only if the same piece goes on: then the end of the stream behind it, and its
  // Adler-32, were looked at in the same call.
  while (stream_.avail_out > 0) {
    if (stream_.avail_in == 0) {
      const auto piece = chunks_->NextPiece();
      if (piece.empty()) return Outcome::kTruncated;
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
    }
    result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) return Outcome::kNoMemory;
    if (result == Z_NEED_DICT || (result < 0 && result != Z_BUF_ERROR)) {
      message_ = stream_.msg != nullptr ? stream_.msg : "the stream asks for a dictionary";
      return Outcome::kBroken;
    }
    // What stands behind the end of the stream is no part of it.
    if (result == Z_STREAM_END && stream_.avail_out > 0) return Outcome::kTruncated;
  }
  if (!UndoPngFilter(current_[0], pixel_bytes_, previous_.data() + 1, row_bytes, current_.data() + 1)) {
    message_ = "unknown filter of a row";
    return Outcome::kBroken;
  }
  std::swap(current_, previous_);
  return result == Z_STREAM_END ? Outcome::kLastRow : Outcome::kRow;
}

}  // namespace augur
