// SPDX-License-Identifier: Apache-2.0
#include "decode/image_probe.h"

#include <gtest/gtest.h>
#include <spng.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
// jpeglib.h needs size_t and FILE.
#include <jpeglib.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "decode/head_probe.h"

namespace augur {
namespace {

using Bytes = std::vector<std::byte>;

Bytes ToBytes(const void* data, size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  return {begin, begin + size};
}

struct JpegShape {
  unsigned width = 37;
  unsigned height = 21;
  int components = 3;
  bool progressive = false;
  bool arithmetic = false;
  std::string app1 = {};  // body of an APP1 segment; empty: none
};

Bytes MakeJpeg(const JpegShape& shape) {
  jpeg_compress_struct compress = {};
  jpeg_error_mgr errors = {};
  compress.err = jpeg_std_error(&errors);
  jpeg_create_compress(&compress);
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&compress, &memory, &size);
  compress.image_width = shape.width;
  compress.image_height = shape.height;
  compress.input_components = shape.components;
  compress.in_color_space = shape.components == 1 ? JCS_GRAYSCALE : shape.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&compress);
  if (shape.progressive) jpeg_simple_progression(&compress);
  compress.arith_code = shape.arithmetic ? TRUE : FALSE;
  jpeg_start_compress(&compress, TRUE);
  if (!shape.app1.empty()) {
    jpeg_write_marker(&compress, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(shape.app1.data()),
                      static_cast<unsigned>(shape.app1.size()));
  }
  std::vector<JSAMPLE> row(size_t{shape.width} * static_cast<unsigned>(shape.components), 0x80);
  JSAMPROW rows[] = {row.data()};
  while (compress.next_scanline < compress.image_height) jpeg_write_scanlines(&compress, rows, 1);
  jpeg_finish_compress(&compress);
  Bytes bytes = ToBytes(memory, size);
  jpeg_destroy_compress(&compress);
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's
  return bytes;
}

Bytes MakePng(uint8_t color_type, uint8_t bit_depth, std::string exif = {}) {
  spng_ctx* const context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header = {};
  header.width = 19;
  header.height = 11;
  header.color_type = color_type;
  header.bit_depth = bit_depth;
  spng_set_ihdr(context, &header);
  if (color_type == SPNG_COLOR_TYPE_INDEXED) {
    spng_plte palette = {};
    palette.n_entries = 2;
    spng_set_plte(context, &palette);
  }
  if (!exif.empty()) {
    spng_exif chunk = {.length = exif.size(), .data = exif.data()};
    EXPECT_EQ(spng_set_exif(context, &chunk), 0);
  }
  const unsigned channels[] = {1, 0, 3, 1, 2, 0, 4};
  const size_t row_bytes = (size_t{header.width} * channels[color_type] * bit_depth + 7) / 8;
  const std::vector<std::byte> pixels(row_bytes * header.height);
  EXPECT_EQ(spng_encode_image(context, pixels.data(), pixels.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
  size_t size = 0;
  int error = 0;
  void* const memory = spng_get_png_buffer(context, &size, &error);
  EXPECT_EQ(error, 0);
  Bytes bytes = ToBytes(memory, size);
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): libspng's
  spng_ctx_free(context);
  return bytes;
}

// Big-endian, one directory, orientation 6: 26 bytes.
std::string SmallTiff() { return {"MM\0*\0\0\0\x8\0\x1\x1\x12\0\x3\0\0\0\x1\0\x6\0\0\0\0\0\0", 26}; }
std::string ExifSegment() { return std::string("Exif\0\0", 6) + SmallTiff(); }

ImageInfo Jpeg(unsigned components) {
  return {.width = 37,
          .height = 21,
          .kind = ImageKind::kJpeg,
          .channels = static_cast<uint8_t>(components),
          .bit_depth = 8};
}

TEST(ProbeImage, ReadsJpegsOfEveryShape) {
  for (const int components : {1, 3, 4}) {
    for (const bool progressive : {false, true}) {
      for (const bool arithmetic : {false, true}) {
        const Bytes file = MakeJpeg({.components = components, .progressive = progressive, .arithmetic = arithmetic});
        EXPECT_EQ(ProbeImage(file), Jpeg(static_cast<unsigned>(components)));
      }
    }
  }
}

TEST(ProbeImage, FindsTheExifBlockOfAJpeg) {
  const ImageInfo image = ProbeImage(MakeJpeg({.app1 = ExifSegment()}));
  EXPECT_EQ(image.orientation, 6);
  EXPECT_EQ(image.exif_bytes, SmallTiff().size());
  // XMP lies in the same kind of segment.
  EXPECT_EQ(ProbeImage(MakeJpeg({.app1 = "http://ns.adobe.com/xap/1.0/"})).exif_bytes, 0u);
}

TEST(ProbeImage, ATwelveBitJpegIsAnImage) {
  Bytes file = MakeJpeg({});
  for (size_t i = 0; i + 5 < file.size(); ++i) {
    if (file[i] == std::byte{0xFF} && file[i + 1] == std::byte{0xC0}) {
      file[i + 1] = std::byte{0xC1};  // extended sequential, which has 12 bits
      file[i + 4] = std::byte{12};
      break;
    }
  }
  ImageInfo expected = Jpeg(3);
  expected.bit_depth = 12;
  EXPECT_EQ(ProbeImage(file), expected);
}

TEST(ProbeImage, AJpegCutWithinItsPixelsIsOneAndCutWithinItsHeaderIsNone) {
  const Bytes file = MakeJpeg({.app1 = ExifSegment()});
  size_t scan = 0;
  while (file[scan] != std::byte{0xFF} || file[scan + 1] != std::byte{0xDA}) ++scan;
  const size_t header = scan + 14;  // SOS of three components: marker, length 12
  for (size_t n = 0; n <= file.size(); ++n) {
    const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_EQ(ProbeImage(cut).kind, n < header ? ImageKind::kNone : ImageKind::kJpeg) << n << " of " << header;
  }
}

TEST(ProbeImage, ReadsPngsOfEveryKind) {
  struct Kind {
    uint8_t color_type, bit_depth, channels;
  };
  for (const Kind kind :
       {Kind{0, 1, 1}, Kind{0, 2, 1}, Kind{0, 4, 1}, Kind{0, 8, 1}, Kind{0, 16, 1}, Kind{2, 8, 3}, Kind{2, 16, 3},
        Kind{3, 1, 3}, Kind{3, 8, 3}, Kind{4, 8, 2}, Kind{4, 16, 2}, Kind{6, 8, 4}, Kind{6, 16, 4}}) {
    const ImageInfo expected = {
        .width = 19, .height = 11, .kind = ImageKind::kPng, .channels = kind.channels, .bit_depth = kind.bit_depth};
    EXPECT_EQ(ProbeImage(MakePng(kind.color_type, kind.bit_depth)), expected);
  }
}

TEST(ProbeImage, FindsTheExifChunkOfAPngBeforeAndAfterThePixels) {
  const Bytes before = MakePng(SPNG_COLOR_TYPE_TRUECOLOR, 8, SmallTiff());
  EXPECT_EQ(ProbeImage(before).orientation, 6);
  EXPECT_EQ(ProbeImage(before).exif_bytes, SmallTiff().size());
  // The same chunk moved behind the pixels, before the 12 bytes of IEND.
  Bytes after = MakePng(SPNG_COLOR_TYPE_TRUECOLOR, 8);
  std::string chunk = std::string(
                          "\0\0\0\x1a"
                          "eXIf",
                          8) +
                      SmallTiff() + "crc!";
  const Bytes chunk_bytes = ToBytes(chunk.data(), chunk.size());
  after.insert(after.end() - 12, chunk_bytes.begin(), chunk_bytes.end());
  EXPECT_EQ(ProbeImage(after).orientation, 6);
}

TEST(ProbeImage, ADamagedPngHeaderIsNone) {
  const Bytes file = MakePng(SPNG_COLOR_TYPE_TRUECOLOR, 8);
  for (size_t i = 0; i < 33; ++i) {  // signature, and IHDR with its checksum
    Bytes damaged = file;
    damaged[i] ^= std::byte{0x20};
    EXPECT_EQ(ProbeImage(damaged), ImageInfo{}) << i;
  }
  for (size_t n = 0; n < 33; ++n) {
    EXPECT_EQ(ProbeImage(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(n))), ImageInfo{}) << n;
  }
}

TEST(ProbeImage, OtherBytesAreNone) {
  for (const std::string text : {"", "\xFF", "\xFF\xD8", "\xFF\xD8\xFF", "GIF89a", "hello"}) {
    EXPECT_EQ(ProbeImage(ToBytes(text.data(), text.size())), ImageInfo{});
  }
}

// FORMAT.md section 5: what a reader would refuse must never come out.
void ExpectAllowed(const ImageInfo& image) {
  if (image.kind == ImageKind::kNone) {
    EXPECT_EQ(image, ImageInfo{});
    return;
  }
  EXPECT_GT(image.width, 0u);
  EXPECT_GT(image.height, 0u);
  EXPECT_LE(image.orientation, 8);
  EXPECT_GE(image.channels, 1);
  EXPECT_LE(image.channels, 4);
  const bool jpeg = image.kind == ImageKind::kJpeg;
  EXPECT_TRUE(image.bit_depth == 8 || (jpeg ? image.bit_depth == 12 : 16 % image.bit_depth == 0));
}

TEST(ProbeImage, SurvivesDamageAnywhere) {
  const std::vector<Bytes> files = {MakeJpeg({.progressive = true, .app1 = ExifSegment()}), MakeJpeg({.components = 4}),
                                    MakePng(6, 16, SmallTiff()), MakePng(SPNG_COLOR_TYPE_INDEXED, 4)};
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    Bytes file = files[random() % files.size()];
    for (unsigned i = random() % 8; i > 0; --i) file[random() % file.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) file.resize(random() % file.size());
    const ImageInfo image = ProbeImage(file);
    ExpectAllowed(image);
    EXPECT_EQ(ExifOf(file).size(), image.exif_bytes);
  }
}

TEST(ExifOf, IsTheBlockThatWasMeasured) {
  const Bytes tiff = ToBytes(SmallTiff().data(), SmallTiff().size());
  for (const Bytes& file : {MakeJpeg({.app1 = ExifSegment()}), MakePng(SPNG_COLOR_TYPE_TRUECOLOR, 8, SmallTiff())}) {
    const std::span<const std::byte> block = ExifOf(file);
    EXPECT_EQ(Bytes(block.begin(), block.end()), tiff);
    EXPECT_TRUE(block.data() > file.data() && block.data() < file.data() + file.size());
  }
  EXPECT_TRUE(ExifOf(MakeJpeg({})).empty());
  EXPECT_TRUE(ExifOf(MakeJpeg({.app1 = std::string("Exif\0\0", 6) + "no TIFF header"})).empty());
  EXPECT_TRUE(ExifOf({}).empty());
}

// A header of `bytes` more, in segments that say nothing of the image, in front of everything else of a JPEG.
Bytes WithLongHeader(const Bytes& jpeg, size_t bytes) {
  Bytes file(jpeg.begin(), jpeg.begin() + 2);
  while (bytes > 0) {
    const size_t body = std::min<size_t>(bytes, 65'533);
    bytes -= body;
    for (const size_t c : {size_t{0xFF}, size_t{0xE2}, (body + 2) >> 8, (body + 2) & 0xFF})
      file.push_back(std::byte(c));
    file.resize(file.size() + body, std::byte{0x5A});
  }
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

TEST(ProbeImage, AJpegMayHaveALongHeader) {
  const Bytes jpeg = MakeJpeg({.app1 = ExifSegment()});
  const Bytes file = WithLongHeader(jpeg, size_t{20} << 20);
  EXPECT_EQ(ProbeImage(file), ProbeImage(jpeg));
  EXPECT_EQ(ProbeImage(file).orientation, 6);
  EXPECT_EQ(ExifOf(file).size(), SmallTiff().size());
  EXPECT_EQ(ProbeImage(WithLongHeader(jpeg, kProbeBytesMax)), ImageInfo{}) << "but not any";
}

// The header of a lossless JPEG without subsampling, with the tables and pixels of another kind.
Bytes AsLossless(Bytes jpeg) {
  for (size_t i = 2; i + 20 < jpeg.size(); ++i) {
    if (jpeg[i] != std::byte{0xFF} || jpeg[i + 1] != std::byte{0xC0}) continue;
    jpeg[i + 1] = std::byte{0xC3};
    for (size_t part = 0; part < std::to_integer<size_t>(jpeg[i + 9]); ++part)
      jpeg[i + 11 + 3 * part] = std::byte{0x11};
    break;
  }
  return jpeg;
}

TEST(ProbeImage, ALosslessJpegIsAnImage) {
  const Bytes jpeg = MakeJpeg({.app1 = ExifSegment()});
  EXPECT_EQ(ProbeImage(AsLossless(jpeg)), ProbeImage(jpeg));
  EXPECT_EQ(ExifOf(AsLossless(jpeg)).size(), SmallTiff().size());
  Bytes other = AsLossless(jpeg);
  other[other.size() - 1] = std::byte{0};
  for (size_t i = 2; i < other.size(); ++i) {
    if (other[i - 1] != std::byte{0xFF} || other[i] != std::byte{0xC3}) continue;
    Bytes deep = other;
    deep[i + 3] = std::byte{12};
    EXPECT_EQ(ProbeImage(deep), ImageInfo{}) << "12 bits";
    Bytes subsampled = other;
    subsampled[i + 10] = std::byte{0x22};
    EXPECT_EQ(ProbeImage(subsampled), ImageInfo{});
    return;
  }
  FAIL() << "no frame";
}

ImageInfo ProbedInPieces(const Bytes& file, std::mt19937* random) {
  HeadProbe probe;
  for (size_t at = 0; at < file.size();) {
    const size_t bytes = std::min<size_t>(file.size() - at, 1 + (*random)() % ((*random)() % 4 == 0 ? 100'000 : 20));
    probe.Add(std::span(file).subspan(at, bytes));
    at += bytes;
  }
  return probe.Finish();
}

// In pieces of any size a file is what it is as a whole, damaged ones, too.
TEST(HeadProbe, SaysWhatProbeImageSays) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Bytes jpeg = MakeJpeg({.app1 = ExifSegment()});
  const std::vector<Bytes> files = {jpeg,
                                    WithLongHeader(jpeg, 300'000),
                                    WithLongHeader(MakeJpeg({.progressive = true, .app1 = "http://ns.adobe.com/"}), 9),
                                    MakeJpeg({.components = 4}),
                                    MakePng(6, 16, SmallTiff()),
                                    AsLossless(jpeg),
                                    AsLossless(MakeJpeg({.components = 1})),
                                    ToBytes("hello, this is a text", 21),
                                    {}};
  for (const Bytes& file : files) EXPECT_EQ(ProbedInPieces(file, &random), ProbeImage(file));
  for (int round = 0; round < 20'000; ++round) {
    Bytes file = files[random() % 7];
    if (file.size() > 10'000 && round % 50 != 0) continue;
    for (unsigned i = random() % 8; i > 0; --i)
      file[random() % std::min<size_t>(file.size(), 400)] = std::byte(random());
    if (random() % 4 == 0) file.resize(random() % file.size());
    ASSERT_EQ(ProbedInPieces(file, &random), ProbeImage(file)) << round;
  }
}

// Of 20 MiB of header it is done behind it, and keeps next to nothing of it.
TEST(HeadProbe, PassesOverALongHeader) {
  const Bytes jpeg = MakeJpeg({.app1 = ExifSegment()});
  const Bytes file = WithLongHeader(jpeg, size_t{20} << 20);
  HeadProbe probe;
  size_t at = 0;
  for (; !probe.done() && at < file.size(); at += 1000) {
    probe.Add(std::span(file).subspan(at, std::min<size_t>(file.size() - at, 1000)));
  }
  EXPECT_LT(at, file.size() + 1000);
  EXPECT_EQ(probe.Finish(), ProbeImage(jpeg));
  HeadProbe endless;  // a JPEG without an image
  while (!endless.done()) endless.Add(std::span(file).first(size_t{1} << 20));
  EXPECT_EQ(endless.Finish(), ImageInfo{});
}

TEST(ProbeImage, ManyTinySegmentsTakeLinearTime) {
  // 64 MiB of comments: the ctest limit is what fails when this is quadratic.
  Bytes file = ToBytes("\xFF\xD8", 2);
  while (file.size() < kProbeBytesMax) {
    for (const unsigned c : {0xFFU, 0xFEU, 0x00U, 0x02U}) file.push_back(static_cast<std::byte>(c));
  }
  EXPECT_EQ(ProbeImage(file), ImageInfo{});
}

}  // namespace
}  // namespace augur
