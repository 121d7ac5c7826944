// SPDX-License-Identifier: Apache-2.0
// What real readers make of the files is in tests/frameworks/test_containers.py.
#include "decode/png_writer.h"

#include <gtest/gtest.h>
#include <spng.h>

#include <cstring>
#include <memory>
#include <vector>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

// libspng, told to check every checksum.
void ExpectReadsBack(const Image& image, size_t exif_bytes) {
  std::vector<std::byte> exif(exif_bytes, std::byte{7});
  if (exif_bytes >= 4) std::memcpy(exif.data(), "II*\0", 4);
  GuardedBytes file(PngBytes(image.width, image.height, image.channels, static_cast<uint32_t>(exif.size())));
  WritePng(image, exif, file.span());
  EXPECT_TRUE(file.guards_hold());

  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR);
  ASSERT_EQ(spng_set_png_buffer(context.get(), file.data(), file.span().size()), 0);
  spng_ihdr header = {};
  ASSERT_EQ(spng_get_ihdr(context.get(), &header), 0);
  EXPECT_EQ(header.width, image.width);
  EXPECT_EQ(header.height, image.height);
  EXPECT_EQ(header.bit_depth, 8);
  EXPECT_EQ(header.interlace_method, 0);
  EXPECT_EQ(header.color_type, image.channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR);
  std::vector<uint8_t> pixels(image.bytes());
  ASSERT_EQ(spng_decode_image(context.get(), pixels.data(), pixels.size(), SPNG_FMT_PNG, 0), 0);
  EXPECT_EQ(std::memcmp(pixels.data(), image.pixels.get(), pixels.size()), 0);
  EXPECT_EQ(spng_decode_chunks(context.get()), 0);
  spng_exif read = {};
  if (exif.empty()) {
    EXPECT_EQ(spng_get_exif(context.get(), &read), SPNG_ECHUNKAVAIL);
  } else {
    ASSERT_EQ(spng_get_exif(context.get(), &read), 0);
    ASSERT_EQ(read.length, exif.size());
    EXPECT_EQ(std::memcmp(read.data, exif.data(), exif.size()), 0);
  }
}

TEST(PngWriter, SmallImages) {
  for (const uint32_t channels : {1U, 3U}) {
    for (uint32_t width = 1; width < 8; ++width) {
      for (uint32_t height = 1; height < 8; ++height) ExpectReadsBack(RandomImage(width, height, channels), 0);
    }
  }
}

// Rows of 65,534 bytes and their filter byte are exactly one block.
TEST(PngWriter, BordersOfDeflateBlocks) {
  for (const uint32_t width : {65'533U, 65'534U, 65'535U, 65'536U, 131'068U, 131'069U, 131'070U}) {
    ExpectReadsBack(RandomImage(width, 1, 1), 0);
    ExpectReadsBack(RandomImage(width, 3, 1), 0);
  }
  for (const uint32_t width : {21'844U, 21'845U, 21'846U}) ExpectReadsBack(RandomImage(width, 2, 3), 0);
  ExpectReadsBack(RandomImage(1, 65'535, 1), 0);  // two blocks of filter byte, pixel, ...
  ExpectReadsBack(RandomImage(254, 257, 1), 0);   // 257 * 255 = 65,535
  ExpectReadsBack(RandomImage(254, 258, 1), 0);
}

TEST(PngWriter, Exif) {
  for (const size_t bytes : {size_t{4}, size_t{9}, size_t{65'527}}) ExpectReadsBack(RandomImage(30, 20, 3), bytes);
}

// One black pixel: every byte by the specification, its checksums by zlib's crc32 and adler32.
TEST(PngWriter, OnePixel) {
  Image image = MakeImage(1, 1, 1);
  image.pixels[0] = 0;
  GuardedBytes file(PngBytes(1, 1, 1, 0));
  WritePng(image, {}, file.span());
  const uint8_t expected[] = {0x89, 'P',  'N', 'G', '\r', '\n', 0x1A, '\n',  //
                              0,    0,    0,   13,  'I',  'H',  'D',  'R',  0,    0,    0,    1,    0,
                              0,    0,    1,   8,   0,    0,    0,    0,    0x3A, 0x7E, 0x9B, 0x55,  //
                              0,    0,    0,   13,  'I',  'D',  'A',  'T',  0x78, 0x01, 0x01, 0x02, 0x00,
                              0xFD, 0xFF, 0,   0,   0,    2,    0,    1,    0x7E, 0x05, 0x0D, 0xD2,  //
                              0,    0,    0,   0,   'I',  'E',  'N',  'D',  0xAE, 0x42, 0x60, 0x82};
  ASSERT_EQ(file.span().size(), sizeof expected);
  EXPECT_EQ(std::memcmp(file.data(), expected, sizeof expected), 0);
}

TEST(PngWriter, SizesThatFit) {
  EXPECT_FALSE(FitsPng(0, 1, 3));
  EXPECT_FALSE(FitsPng(1, 0, 3));
  EXPECT_TRUE(FitsPng(26'000, 26'000, 3));
  EXPECT_FALSE(FitsPng(27'000, 27'000, 3));
  EXPECT_FALSE(FitsPng(UINT32_MAX, UINT32_MAX, 3));
  EXPECT_FALSE(FitsPng(0x7FFFFFFF, 0x7FFFFFFF, 3));
  EXPECT_TRUE(FitsPng(1, 0x3FFE0000, 1));
  EXPECT_FALSE(FitsPng(0x80000000, 1, 1));
}

}  // namespace
}  // namespace augur
