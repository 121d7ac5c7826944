// SPDX-License-Identifier: Apache-2.0
#include "decode/exif.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace augur {
namespace {

// A TIFF block with one directory of one field, in the given byte order, made by hand from the TIFF 6.0 text.
std::vector<std::byte> Tiff(bool big, uint16_t tag, uint16_t type, uint32_t count, uint32_t value) {
  std::vector<std::byte> tiff;
  const auto put = [&](uint32_t number, int width) {
    for (int i = 0; i < width; ++i) {
      const int shift = 8 * (big ? width - 1 - i : i);
      tiff.push_back(static_cast<std::byte>(number >> shift));
    }
  };
  tiff.push_back(std::byte(big ? 'M' : 'I'));
  tiff.push_back(tiff.back());
  put(42, 2);
  put(8, 4);  // the directory follows
  put(1, 2);
  put(tag, 2);
  put(type, 2);
  put(count, 4);
  const int width = type == 1 ? 1 : type == 3 ? 2 : 4;
  put(value, width);
  for (int i = width; i < 4; ++i) tiff.push_back(std::byte{0});
  put(0, 4);  // no further directory
  return tiff;
}

TEST(Exif, ReadsTheOrientationInBothByteOrdersAndEveryType) {
  for (const bool big : {false, true}) {
    for (const uint16_t type : {uint16_t{1}, uint16_t{3}, uint16_t{4}}) {
      for (uint32_t orientation = 1; orientation <= 8; ++orientation) {
        const auto tiff = Tiff(big, 0x0112, type, 1, orientation);
        const ExifSummary exif = ReadExif(tiff);
        EXPECT_EQ(exif.orientation, orientation) << big << type;
        EXPECT_EQ(exif.bytes, tiff.size());
      }
    }
  }
}

TEST(Exif, NonsenseInTheTagIsNoOrientation) {
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 1, 0)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 1, 9)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 0, 6)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 2, 1, 6)).orientation, 0);  // text
  EXPECT_EQ(ReadExif(Tiff(false, 0x0111, 3, 1, 6)).orientation, 0);  // another tag
}

TEST(Exif, WithoutATiffHeaderThereIsNoBlock) {
  auto tiff = Tiff(true, 0x0112, 3, 1, 6);
  EXPECT_EQ(ReadExif({}).bytes, 0u);
  EXPECT_EQ(ReadExif(std::span(tiff).first(7)).bytes, 0u);
  tiff[1] = std::byte{'I'};
  EXPECT_EQ(ReadExif(tiff).bytes, 0u);
}

TEST(Exif, EveryTruncationHasALengthAndNoOrientation) {
  const auto tiff = Tiff(true, 0x0112, 3, 1, 6);
  for (size_t n = 8; n < 22; ++n) {
    const std::vector<std::byte> cut(tiff.begin(), tiff.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_EQ(ReadExif(cut).bytes, n);
    EXPECT_EQ(ReadExif(cut).orientation, 0) << n;
  }
}

TEST(Exif, ADirectoryFarOutsideIsNotRead) {
  auto tiff = Tiff(false, 0x0112, 3, 1, 6);
  for (size_t i = 4; i < 8; ++i) tiff[i] = std::byte{0xFF};
  EXPECT_EQ(ReadExif(tiff).orientation, 0);
}

}  // namespace
}  // namespace augur
