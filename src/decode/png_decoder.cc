// SPDX-License-Identifier: Apache-2.0
#include "decode/png_decoder.h"

#include <spng.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "decode/decode_bounds.h"
#include "decode/png_chunks.h"
#include "decode/png_rows.h"

namespace augur {
namespace {

// To undo the filters.
constexpr uint64_t kRowsOfLibspng = 2;

using Context = std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)>;

int ReadChunks(spng_ctx* /*context*/, void* chunks, void* to, size_t bytes) {
  return static_cast<PngChunks*>(chunks)->Read(to, bytes) ? 0 : SPNG_IO_EOF;
}

Status Failure(int error) {
  if (error == SPNG_IO_EOF) {
    return {Code::kCorrupt,
            "PNG: truncated: the file ends before its image does; get it whole, or allow truncated images"};
  }
  return {error == SPNG_EMEM ? Code::kNoSpace : Code::kCorrupt, std::string("PNG: ") + spng_strerror(error)};
}

// A PNG whose header has been read.
struct Header {
  Context context{nullptr, spng_ctx_free};
  spng_ihdr ihdr = {};
  size_t raw_row_bytes = 0;
  DecodeNeeds needs;
};

Result<Header> ReadHeader(PngChunks* chunks, const DecodeOptions& options) {
  Header header;
  header.context.reset(spng_ctx_new(0));
  spng_ctx* const context = header.context.get();
  if (context == nullptr) return Status(Code::kNoSpace, "PNG: out of memory");
  // The checksums before the pixels were looked at (PngChunks); nobody looks at those of the pixels.
  int error = spng_set_crc_action(context, SPNG_CRC_USE, SPNG_CRC_USE);
  if (error == 0) error = spng_set_png_stream(context, ReadChunks, chunks);
  if (error == 0) error = spng_get_ihdr(context, &header.ihdr);
  if (error != 0) return Failure(error);
  const spng_ihdr& ihdr = header.ihdr;
  const uint64_t samples = ihdr.color_type == SPNG_COLOR_TYPE_TRUECOLOR         ? 3
                           : ihdr.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4
                           : ihdr.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                                                                                : 1;
  header.raw_row_bytes = (uint64_t{ihdr.width} * samples * ihdr.bit_depth + 7) / 8;
  header.needs.width = ihdr.width;
  header.needs.height = ihdr.height;
  header.needs.channels = PngRows(ihdr.color_type, ihdr.bit_depth, options.keep_grey, {}).channels();
  const uint64_t raw_rows = ihdr.interlace_method != 0 ? ihdr.height : 1;
  header.needs.memory_bytes =
      uint64_t{ihdr.width} * ihdr.height * header.needs.channels + (raw_rows + kRowsOfLibspng) * header.raw_row_bytes;
  return header;
}

// Reads the rows as far as they go, each into raw_rows: all of them of an interlaced image, whose passes come back to a
// row, else one, which is converted at once. Returns libspng's last word: SPNG_EOI after the last row.
int ReadRows(const Header& header, const PngRows& convert, std::vector<uint8_t>* raw_rows, Image* image) {
  spng_ctx* const context = header.context.get();
  const bool interlaced = header.ihdr.interlace_method != 0;
  int error = spng_decode_image(context, nullptr, 0, SPNG_FMT_RAW, SPNG_DECODE_PROGRESSIVE);
  while (error == 0) {
    spng_row_info row = {};
    error = spng_get_row_info(context, &row);
    if (error != 0) break;
    uint8_t* const raw = raw_rows->data() + (interlaced ? row.row_num * header.raw_row_bytes : 0);
    error = spng_decode_row(context, raw, header.raw_row_bytes);
    if ((error == 0 || error == SPNG_EOI) && !interlaced) {
      convert.Convert(raw, {image->pixels.get() + row.row_num * image->row_bytes(), image->row_bytes()});
    }
  }
  return error;
}

}  // namespace

Result<DecodeNeeds> MeasurePng(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(chunks, PngChunks::Find(file, options.tolerant));
  AUGUR_TRY_ASSIGN(header, ReadHeader(&chunks, options));
  return header.needs;
}

DecodeNeeds ExpectPng(const ImageInfo& info, const DecodeOptions& options) {
  const uint32_t channels = info.channels <= 2 && options.keep_grey ? 1 : 3;
  const uint64_t raw_row_bytes = (uint64_t{info.width} * info.channels * info.bit_depth + 7) / 8;
  return {.width = info.width,
          .height = info.height,
          .channels = channels,
          .memory_bytes = uint64_t{info.width} * info.height * channels + (1 + kRowsOfLibspng) * raw_row_bytes};
}

Result<Image> DecodePng(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(chunks, PngChunks::Find(file, options.tolerant));
  AUGUR_TRY_ASSIGN(header, ReadHeader(&chunks, options));
  AUGUR_TRY(CheckBounds("PNG", header.ihdr.width, header.ihdr.height, header.needs.memory_bytes, options));

  const PngRows convert(header.ihdr.color_type, header.ihdr.bit_depth, options.keep_grey, chunks.palette());
  const bool interlaced = header.ihdr.interlace_method != 0;
  Image image = MakeImage(header.needs.width, header.needs.height, header.needs.channels, options.room);
  std::vector<uint8_t> raw_rows((interlaced ? header.ihdr.height : 1) * header.raw_row_bytes);
  // Samples that never come are zero, which for a palette is its first colour.
  if (!interlaced) {
    for (uint32_t row = 0; row < image.height && options.tolerant; ++row) {
      convert.Convert(raw_rows.data(), {image.pixels.get() + row * image.row_bytes(), image.row_bytes()});
    }
  }
  const int error = ReadRows(header, convert, &raw_rows, &image);
  if (error != SPNG_EOI && !options.tolerant) return Failure(error);
  for (uint32_t row = 0; row < image.height && interlaced; ++row) {
    convert.Convert(raw_rows.data() + row * header.raw_row_bytes,
                    {image.pixels.get() + row * image.row_bytes(), image.row_bytes()});
  }
  return image;
}

}  // namespace augur
