// SPDX-License-Identifier: Apache-2.0
#include "decode/png_decoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "decode/decode_bounds.h"
#include "decode/png_chunks.h"
#include "decode/png_rows.h"
#include "decode/png_samples.h"

namespace augur {
namespace {

using Outcome = PngSamples::Outcome;

// The pixels of an image that one pass has: those from (left, top) on, each `across`th and `down`th.
struct Pass {
  uint32_t left;
  uint32_t top;
  uint32_t across;
  uint32_t down;

  uint32_t columns(uint32_t width) const { return (width - std::min(width, left) + across - 1) / across; }
};

constexpr std::array<Pass, 1> kOnePass = {{{0, 0, 1, 1}}};
// Adam7: section 8.2 of the PNG specification.
constexpr std::array<Pass, 7> kSevenPasses = {
    {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};

std::span<const Pass> PassesOf(const PngHeader& header) {
  return header.interlaced ? std::span<const Pass>(kSevenPasses) : std::span<const Pass>(kOnePass);
}

Status Failure(Outcome outcome, const char* message) {
  switch (outcome) {
    case Outcome::kTruncated:
      return {Code::kCorrupt,
              "PNG: truncated: the file ends before its image does; get it whole, or add tolerant to the view"};
    case Outcome::kNoMemory: return {Code::kNoSpace, "PNG: out of memory"};
    default: return {Code::kCorrupt, std::string("PNG: the pixels are broken: ") + message + "; get the file anew"};
  }
}

// A row of an interlaced image is converted elsewhere before its pixels go to their places.
uint64_t ApartBytes(const PngHeader& header, uint32_t channels) {
  return header.interlaced ? uint64_t{header.width} * channels : 0;
}

DecodeNeeds NeedsOf(const PngHeader& header, const DecodeOptions& options) {
  const bool grey = header.color == PngColor::kGrey || header.color == PngColor::kGreyAlpha;
  DecodeNeeds needs{.width = header.width, .height = header.height, .channels = grey && options.keep_grey ? 1U : 3U};
  needs.memory_bytes = uint64_t{needs.width} * needs.height * needs.channels + ApartBytes(header, needs.channels) +
                       PngSamples::BytesFor(header.row_bytes(header.width));
  return needs;
}

// The rows of an image, each to be put where its pass has it.
class RowPlacer {
 public:
  RowPlacer(const PngHeader& header, const PngRows& convert, Image* image)
      : header_(header), convert_(convert), image_(*image), apart_(ApartBytes(header, image->channels)) {}

  // Pixels that never come: samples of zero, which for a palette is its first colour.
  void Blank(uint32_t from_row) {
    if (from_row == image_.height) return;
    const std::vector<uint8_t> zeros(header_.row_bytes(header_.width));
    for (uint32_t row = from_row; row < image_.height; ++row) convert_.Convert(zeros.data(), RowAt(row));
  }

  void Place(const Pass& pass, uint32_t row, const uint8_t* samples) {
    if (!header_.interlaced) return convert_.Convert(samples, RowAt(row));
    const std::span<uint8_t> pixels(apart_.data(), size_t{pass.columns(image_.width)} * image_.channels);
    convert_.Convert(samples, pixels);
    uint8_t* to = RowAt(row).data() + size_t{pass.left} * image_.channels;
    for (size_t at = 0; at < pixels.size(); at += image_.channels, to += size_t{pass.across} * image_.channels) {
      std::copy_n(pixels.data() + at, image_.channels, to);
    }
  }

 private:
  std::span<uint8_t> RowAt(uint32_t row) {
    return {image_.pixels.get() + row * image_.row_bytes(), image_.row_bytes()};
  }

  const PngHeader& header_;
  const PngRows& convert_;
  Image& image_;
  std::vector<uint8_t> apart_;
};

}  // namespace

Result<DecodeNeeds> MeasurePng(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(chunks, PngChunks::Find(file, options.tolerant));
  return NeedsOf(chunks.header(), options);
}

DecodeNeeds ExpectPng(const ImageInfo& info, const DecodeOptions& options) {
  const PngColor color = info.channels == 1   ? PngColor::kGrey
                         : info.channels == 2 ? PngColor::kGreyAlpha
                         : info.channels == 3 ? PngColor::kRgb
                                              : PngColor::kRgbAlpha;
  return NeedsOf({.width = info.width, .height = info.height, .color = color, .bit_depth = info.bit_depth}, options);
}

Result<Image> DecodePng(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(chunks, PngChunks::Find(file, options.tolerant));
  const PngHeader& header = chunks.header();
  const DecodeNeeds needs = NeedsOf(header, options);
  AUGUR_TRY(CheckBounds("PNG", header.width, header.height, needs.memory_bytes, options));
  const uint64_t row_bytes_max = header.row_bytes(header.width);
  if (row_bytes_max >= UINT32_MAX) return Status(Code::kUnsupported, "PNG: a row of 4 GiB or more");

  const PngRows convert(header, options.keep_grey, chunks.palette());
  Image image = MakeImage(needs.width, needs.height, needs.channels, options.room);
  RowPlacer placer(header, convert, &image);
  // Pixels of a later pass lie beside those of an earlier one.
  if (header.interlaced) placer.Blank(0);
  PngSamples samples(&chunks, (header.pixel_bits() + 7) / 8, row_bytes_max);
  Outcome outcome = Outcome::kRow;
  for (const Pass& pass : PassesOf(header)) {
    const uint32_t columns = pass.columns(header.width);
    if (columns == 0 || outcome != Outcome::kRow) continue;
    samples.BeginPass();
    for (uint32_t row = pass.top; row < header.height && outcome == Outcome::kRow; row += pass.down) {
      outcome = samples.Next(header.row_bytes(columns));
      const bool there = outcome == Outcome::kRow || outcome == Outcome::kLastRow;
      if (there) placer.Place(pass, row, samples.row());
      if (!there && (outcome == Outcome::kNoMemory || !options.tolerant)) return Failure(outcome, samples.Message());
      if (outcome != Outcome::kRow && !header.interlaced) placer.Blank(there ? row + 1 : row);
    }
  }
  return image;
}

}  // namespace augur
