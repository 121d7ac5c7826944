// SPDX-License-Identifier: Apache-2.0
// What real readers make of the files is in tests/frameworks/test_containers.py.
#include "decode/bmp_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

uint32_t Number(const uint8_t* at, unsigned bytes) {
  uint32_t number = 0;
  for (unsigned i = 0; i < bytes; ++i) number |= uint32_t{at[i]} << (8 * i);
  return number;
}

// By the tables of BITMAPFILEHEADER and BITMAPINFOHEADER.
void ExpectFile(const Image& image) {
  const uint64_t bytes = BmpBytes(image.width, image.height, image.channels);
  GuardedBytes file(bytes);
  WriteBmp(image, file.span());
  EXPECT_TRUE(file.guards_hold());
  const uint8_t* const at = file.data();
  EXPECT_EQ(std::memcmp(at, "BM", 2), 0);
  EXPECT_EQ(Number(at + 2, 4), bytes);
  EXPECT_EQ(Number(at + 14, 4), 40U);
  EXPECT_EQ(Number(at + 18, 4), image.width);
  EXPECT_EQ(Number(at + 22, 4), image.height);
  EXPECT_EQ(Number(at + 26, 2), 1U);
  EXPECT_EQ(Number(at + 28, 2), 8 * image.channels);
  EXPECT_EQ(Number(at + 30, 4), 0U);
  const uint32_t pixels_at = Number(at + 10, 4);
  EXPECT_EQ(pixels_at, image.channels == 1 ? 54U + 1024U : 54U);
  const size_t row_bytes = (image.row_bytes() + 3) & ~size_t{3};
  EXPECT_EQ(Number(at + 34, 4), row_bytes * image.height);
  ASSERT_EQ(bytes, pixels_at + row_bytes * image.height);
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* const row = at + pixels_at + (image.height - 1 - y) * row_bytes;
    for (size_t x = 0; x < image.width; ++x) {
      const uint8_t* const pixel = image.pixels.get() + y * image.row_bytes() + x * image.channels;
      if (image.channels == 1) {
        const uint8_t* const color = at + 54 + size_t{4} * row[x];
        EXPECT_TRUE(color[0] == pixel[0] && color[1] == pixel[0] && color[2] == pixel[0] && color[3] == 0);
      } else {
        EXPECT_TRUE(row[3 * x] == pixel[2] && row[3 * x + 1] == pixel[1] && row[3 * x + 2] == pixel[0]);
      }
    }
    for (size_t i = image.row_bytes(); i < row_bytes; ++i) EXPECT_EQ(row[i], 0);
  }
}

TEST(BmpWriter, Images) {
  for (const uint32_t channels : {1U, 3U}) {
    for (const uint32_t width : {1U, 2U, 3U, 4U, 5U, 31U, 64U, 65U, 200U}) {
      for (const uint32_t height : {1U, 2U, 7U}) ExpectFile(RandomImage(width, height, channels));
    }
  }
}

TEST(BmpWriter, SizesThatFit) {
  EXPECT_FALSE(FitsBmp(0, 1, 3));
  EXPECT_FALSE(FitsBmp(1, 0, 3));
  EXPECT_TRUE(FitsBmp(37'000, 37'000, 3));
  EXPECT_FALSE(FitsBmp(38'000, 38'000, 3));
  EXPECT_FALSE(FitsBmp(UINT32_MAX, UINT32_MAX, 3));
  EXPECT_TRUE(FitsBmp(1, (UINT32_MAX - 54) / 4, 3)) << "4 bytes a row";
  EXPECT_FALSE(FitsBmp(1, (UINT32_MAX - 54) / 4 + 1, 3));
}

}  // namespace
}  // namespace augur
