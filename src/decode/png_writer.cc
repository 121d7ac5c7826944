// SPDX-License-Identifier: Apache-2.0
#include "decode/png_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "decode/field_writer.h"

namespace augur {
namespace {

constexpr uint64_t kBlockBytesMax = 65'535;  // of a stored deflate block: its length has 16 bits
constexpr uint64_t kBlockHeaderBytes = 5;    // last block or not, length, length inverted
constexpr uint64_t kZlibBytes = 2 + 4;       // header and Adler-32
constexpr uint64_t kChunkBytes = 4 + 4 + 4;  // length, type, CRC-32
constexpr uint64_t kHeaderChunkDataBytes = 13;
constexpr std::string_view kSignature("\x89PNG\r\n\x1A\n", 8);

// What is compressed: every row with the number of its filter in front.
uint64_t RawBytes(uint32_t width, uint32_t height, uint32_t channels) {
  return height * (1 + uint64_t{width} * channels);
}

uint64_t BlocksOf(uint64_t raw_bytes) { return (raw_bytes + kBlockBytesMax - 1) / kBlockBytesMax; }

uint64_t DataBytes(uint32_t width, uint32_t height, uint32_t channels) {
  const uint64_t raw = RawBytes(width, height, channels);
  return kZlibBytes + BlocksOf(raw) * kBlockHeaderBytes + raw;
}

void WriteChunk(FieldWriter* out, std::string_view type, std::span<const std::byte> data) {
  out->Big32(static_cast<uint32_t>(data.size()));
  const std::byte* const checked = out->at();
  out->Text(type);
  out->Bytes(data.data(), data.size());
  out->Big32(libdeflate_crc32(0, checked, type.size() + data.size()));
}

// Hands out the rows with their filter bytes in pieces that do not care for rows.
class RowStream {
 public:
  explicit RowStream(const Image& image) : row_bytes_(image.row_bytes()), next_(image.pixels.get()) {}

  void Take(std::byte* out, size_t bytes) {
    while (bytes > 0) {
      if (left_ == 0) {
        *out++ = std::byte{0};  // filter 0: none
        --bytes;
        left_ = row_bytes_;
      }
      const size_t count = std::min(left_, bytes);
      std::memmove(out, next_, count);
      next_ += count;
      out += count;
      left_ -= count;
      bytes -= count;
    }
  }

 private:
  const size_t row_bytes_;
  const uint8_t* next_;
  size_t left_ = 0;  // of the row that `next_` is in
};

}  // namespace

bool FitsPng(uint32_t width, uint32_t height, uint32_t channels) {
  // Sides first: their product with 3 then has less than 64 bits.
  return width > 0 && height > 0 && width <= kPngDataBytesMax && height <= kPngDataBytesMax &&
         DataBytes(width, height, channels) <= kPngDataBytesMax;
}

uint64_t PngBytes(uint32_t width, uint32_t height, uint32_t channels, uint32_t exif_bytes) {
  AUGUR_CHECK(FitsPng(width, height, channels));
  return kSignature.size() + kChunkBytes + kHeaderChunkDataBytes + (exif_bytes == 0 ? 0 : kChunkBytes + exif_bytes) +
         kChunkBytes + DataBytes(width, height, channels) + kChunkBytes;
}

// Pixels at the end of `out` are all there until they are taken: what is written before the last row is never longer
// than what is written in all. One pass: a block is copied, and both checksums run over it while the processor's cache
// still has it.
void WritePng(const Image& image, std::span<const std::byte> exif, std::span<std::byte> out) {
  AUGUR_CHECK(out.size() == PngBytes(image.width, image.height, image.channels, static_cast<uint32_t>(exif.size())));
  FieldWriter writer(out.data());
  writer.Text(kSignature);
  std::byte header[kHeaderChunkDataBytes];
  FieldWriter fields(header);
  fields.Big32(image.width);
  fields.Big32(image.height);
  fields.U8(8);                            // bits of a sample
  fields.U8(image.channels == 1 ? 0 : 2);  // greyscale or truecolour
  fields.U8(0);                            // compression: deflate
  fields.U8(0);                            // filters: the five of PNG
  fields.U8(0);                            // not interlaced
  WriteChunk(&writer, "IHDR", header);
  if (!exif.empty()) WriteChunk(&writer, "eXIf", exif);

  writer.Big32(static_cast<uint32_t>(DataBytes(image.width, image.height, image.channels)));
  const std::byte* unchecked = writer.at();  // CRC-32 has seen all before
  writer.Text("IDAT");
  writer.U8(0x78);  // deflate with a window of 32 KiB
  writer.U8(0x01);  // fastest, no dictionary; makes the pair a multiple of 31
  uint32_t crc = 0;
  uint32_t adler = 1;
  RowStream rows(image);
  for (uint64_t left = RawBytes(image.width, image.height, image.channels); left > 0;) {
    const auto bytes = static_cast<uint16_t>(std::min(left, kBlockBytesMax));
    left -= bytes;
    writer.U8(left == 0 ? 1 : 0);  // the last block or not; type 0, stored
    writer.Little16(bytes);
    writer.Little16(static_cast<uint16_t>(~bytes));
    rows.Take(writer.at(), bytes);
    adler = libdeflate_adler32(adler, writer.at(), bytes);
    writer.Skip(bytes);
    crc = libdeflate_crc32(crc, unchecked, static_cast<size_t>(writer.at() - unchecked));
    unchecked = writer.at();
  }
  writer.Big32(adler);
  writer.Big32(libdeflate_crc32(crc, unchecked, static_cast<size_t>(writer.at() - unchecked)));
  WriteChunk(&writer, "IEND", {});
  AUGUR_CHECK(writer.at() == out.data() + out.size());
}

}  // namespace augur
