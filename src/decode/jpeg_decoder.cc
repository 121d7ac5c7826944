// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "decode/cmyk.h"
#include "decode/decode_bounds.h"
#include "decode/jpeg_session.h"
#include "decode/lossless_frame.h"
#include "decode/lossless_jpeg.h"
// libjpeg's error codes are a second header, which needs the first.
#include <jerror.h>

namespace augur {
namespace {

using Outcome = JpegSession::Outcome;

// Rows asked of libjpeg at a time; it gives at most a group of its own, 1 to 4.
constexpr uint32_t kRowsAsked = 16;

Status Truncated() {
  return {Code::kCorrupt,
          "JPEG: truncated: the file ends before its image does; get it whole, or add tolerant to the view"};
}

Status Broken(JpegSession& session) {
  switch (session.error_code()) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_IMAGE_TOO_BIG:
    case JERR_COMPONENT_COUNT: return {Code::kUnsupported, "JPEG: " + session.Message()};
    case JERR_OUT_OF_MEMORY: return {Code::kNoSpace, "JPEG: " + session.Message()};
    default: return {Code::kCorrupt, "JPEG: " + session.Message()};
  }
}

Status Failure(Outcome outcome, JpegSession& session) {
  return outcome == Outcome::kTruncated ? Truncated() : Broken(session);
}

// Reads the header and works out what comes. A tolerant caller, too, gets no image without a header.
Result<DecodeNeeds> ReadHeader(JpegSession& session, const DecodeOptions& options) {
  const uint32_t scale = options.scale_denominator;
  AUGUR_CHECK(scale == 1 || scale == 2 || scale == 4 || scale == 8);
  if (const Outcome outcome = session.ReadHeader(scale); outcome != Outcome::kDone) return Failure(outcome, session);
  const jpeg_decompress_struct& state = session.state();
  if (state.out_color_space == JCS_UNKNOWN) {
    return Status(Code::kUnsupported, "JPEG: " + std::to_string(state.num_components) +
                                          " components; only 1 (grey), 3 (colour) and 4 (CMYK) make an image");
  }
  DecodeNeeds needs{.width = state.output_width,
                    .height = state.output_height,
                    .channels = state.num_components == 1 && options.keep_grey ? 1U : 3U,
                    .memory_bytes = session.WorkingBytes()};
  needs.memory_bytes += uint64_t{needs.width} * needs.height * needs.channels;
  return needs;
}

// The rows of an image as libjpeg gives them, made into those of an Image.
class RowWriter {
 public:
  RowWriter(Image* image, uint32_t components)
      : image_(*image),
        components_(components),
        scratch_(components == image->channels ? 0 : size_t{kRowsAsked} * image->width * components) {}

  // Where libjpeg shall write row `row`, the `place`th of those asked for at a time.
  uint8_t* Target(uint32_t row, uint32_t place) {
    if (scratch_.empty()) return image_.pixels.get() + row * image_.row_bytes();
    return scratch_.data() + size_t{place} * image_.width * components_;
  }

  // Row `row` was written to Target(row, place).
  void Finish(uint32_t row, uint32_t place) {
    if (scratch_.empty()) return;
    const std::span<const uint8_t> from(Target(row, place), size_t{image_.width} * components_);
    const std::span<uint8_t> to(image_.pixels.get() + row * image_.row_bytes(), image_.row_bytes());
    if (components_ == 4) {
      InvertedCmykToRgb(from, to);
    } else {
      for (size_t x = 0; x < from.size(); ++x) std::fill_n(to.data() + x * 3, 3, from[x]);
    }
  }

  // Rows from `row` on never came. Pillow's are zero before they are converted: no ink at all is white.
  void Blank(uint32_t row) {
    std::memset(image_.pixels.get() + row * image_.row_bytes(), components_ == 4 ? 0xFF : 0,
                (image_.height - row) * image_.row_bytes());
  }

 private:
  Image& image_;
  const uint32_t components_;
  std::vector<uint8_t> scratch_;  // kRowsAsked rows; empty where the image's own rows will do
};

}  // namespace

Result<DecodeNeeds> MeasureJpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  if (LosslessFrame::In(file)) return MeasureLosslessJpeg(file, options);
  JpegSession session(file);
  return ReadHeader(session, options);
}

DecodeNeeds ExpectJpeg(const ImageInfo& info, const DecodeOptions& options) {
  const uint32_t scale = options.scale_denominator;
  DecodeNeeds needs{.width = (info.width + scale - 1) / scale,
                    .height = (info.height + scale - 1) / scale,
                    .channels = info.channels == 1 && options.keep_grey ? 1U : 3U,
                    .memory_bytes = JpegSession::OneScanBytes(info.width, info.channels)};
  needs.memory_bytes += uint64_t{needs.width} * needs.height * needs.channels;
  return needs;
}

Result<Image> DecodeJpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  if (LosslessFrame::In(file)) return DecodeLosslessJpeg(file, options);
  JpegSession session(file);
  AUGUR_TRY_ASSIGN(needs, ReadHeader(session, options));
  const jpeg_decompress_struct& state = session.state();
  AUGUR_TRY(CheckBounds("JPEG", state.image_width, state.image_height, needs.memory_bytes, options));

  Outcome outcome = session.Start();
  while (outcome == Outcome::kTruncated && options.tolerant && session.PretendEnd()) outcome = session.Start();
  if (outcome != Outcome::kDone && !options.tolerant) return Failure(outcome, session);

  Image image = MakeImage(needs.width, needs.height, needs.channels, options.room);
  RowWriter writer(&image, static_cast<uint32_t>(state.num_components));
  uint32_t row = 0;
  while (outcome == Outcome::kDone && row < image.height) {
    uint8_t* rows[kRowsAsked];
    const uint32_t asked = std::min(kRowsAsked, image.height - row);
    for (uint32_t i = 0; i < asked; ++i) rows[i] = writer.Target(row + i, i);
    uint32_t done = 0;
    outcome = session.ReadRows(rows, asked, &done);
    for (uint32_t i = 0; i < done; ++i) writer.Finish(row + i, i);
    row += done;
    if (outcome == Outcome::kTruncated && options.tolerant && session.PretendEnd()) outcome = Outcome::kDone;
  }
  if (row < image.height) {
    if (!options.tolerant) return Failure(outcome, session);
    writer.Blank(row);
  } else if (session.Finish() == Outcome::kBroken && !options.tolerant) {
    return Broken(session);
  }
  return image;
}

uint32_t ScaleDenominatorFor(uint32_t width, uint32_t height, uint32_t wanted_width, uint32_t wanted_height) {
  AUGUR_CHECK(wanted_width > 0 && wanted_height > 0);
  const uint32_t scale = std::min(width / wanted_width, height / wanted_height);
  return scale >= 8 ? 8 : scale >= 4 ? 4 : scale >= 2 ? 2 : 1;
}

}  // namespace augur
