// SPDX-License-Identifier: Apache-2.0
#include "decode/exif.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <vector>

namespace augur {
namespace {

void Put(std::vector<std::byte>* out, bool big, uint64_t number, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<std::byte>(number >> 8 * (big ? width - 1 - i : i)));
}

// A TIFF block with a directory of one field of `count` values, of which `value` is all, `width` bytes, in the given
// byte order, made by hand from the TIFF 6.0 text.
std::vector<std::byte> Tiff(bool big, uint16_t tag, uint16_t type, uint32_t count, uint64_t value, int width) {
  std::vector<std::byte> tiff(2, std::byte(big ? 'M' : 'I'));
  Put(&tiff, big, 42, 2);
  Put(&tiff, big, 8, 4);  // the directory follows
  Put(&tiff, big, 1, 2);
  Put(&tiff, big, tag, 2);
  Put(&tiff, big, type, 2);
  Put(&tiff, big, count, 4);
  if (width > 4) {
    Put(&tiff, big, 26, 4);  // behind the directory
  } else {
    Put(&tiff, big, value, width);
    Put(&tiff, big, 0, 4 - width);
  }
  Put(&tiff, big, 0, 4);  // no further directory
  if (width > 4) Put(&tiff, big, value, width);
  return tiff;
}

std::vector<std::byte> Tiff(bool big, uint16_t tag, uint16_t type, uint32_t count, uint32_t value) {
  return Tiff(big, tag, type, count, value, type == 1 ? 1 : type == 3 ? 2 : 4);
}

// Two LONGs, as a RATIONAL has them.
uint64_t Ratio(bool big, uint32_t above, uint32_t below) {
  return big ? uint64_t{above} << 32 | below : uint64_t{below} << 32 | above;
}

TEST(Exif, ReadsTheOrientationInBothByteOrdersAndEveryType) {
  for (const bool big : {false, true}) {
    for (uint32_t orientation = 1; orientation <= 8; ++orientation) {
      const struct {
        uint16_t type;
        int width;
        uint64_t value;
      } fields[] = {
          {1, 1, orientation},
          {3, 2, orientation},
          {4, 4, orientation},
          {5, 8, Ratio(big, orientation * 7, 7)},
          {6, 1, orientation},
          {8, 2, orientation},
          {9, 4, orientation},
          {10, 8, Ratio(big, uint32_t(-3) * orientation, uint32_t(-3))},
          {11, 4, std::bit_cast<uint32_t>(static_cast<float>(orientation))},
          {12, 8, std::bit_cast<uint64_t>(static_cast<double>(orientation))},
          {13, 4, orientation},
          {16, 8, orientation},
      };
      for (const auto& [type, width, value] : fields) {
        const auto tiff = Tiff(big, 0x0112, type, 1, value, width);
        const ExifSummary exif = ReadExif(tiff);
        EXPECT_EQ(exif.orientation, orientation) << big << " " << type;
        EXPECT_EQ(exif.bytes, tiff.size());
      }
    }
  }
}

// OpenCV and torchvision turn such an image (tests/frameworks/test_orientation.py).
TEST(Exif, TheFirstTwoBytesCountWhateverTheTypeIs) {
  for (const uint16_t type : std::initializer_list<uint16_t>{0, 2, 7, 14, 99}) {
    EXPECT_EQ(ReadExif(Tiff(false, 0x0112, type, 1, 6, 2)).orientation, 6);
  }
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 0, 6)).orientation, 6);           // no value
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 4, 1, 0x10006)).orientation, 6);     // a LONG that is no orientation
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 2, 0x10006, 4)).orientation, 6);  // two SHORTs
}

TEST(Exif, OfSeveralFieldsOneThatTurnsCounts) {
  for (const bool first : {false, true}) {
    auto tiff = Tiff(true, 0x0112, 3, 1, first ? 6 : 1);
    const auto field = std::vector<std::byte>(tiff.begin() + 10, tiff.begin() + 22);
    tiff.insert(tiff.begin() + 22, field.begin(), field.end());
    tiff[9] = std::byte{2};
    tiff[31] = std::byte(first ? 1 : 6);
    EXPECT_EQ(ReadExif(tiff).orientation, 6) << first;
  }
}

TEST(Exif, ABlockMayHaveItsNameInFront) {
  const auto tiff = Tiff(true, 0x0112, 3, 1, 6);
  const std::string_view name("Exif\0\0", 6);
  auto block = tiff;
  for (int names = 0; names < 3; ++names) {
    EXPECT_TRUE(std::ranges::equal(TiffOf(block), tiff)) << names;
    const auto bytes = std::as_bytes(std::span(name));
    block.insert(block.begin(), bytes.begin(), bytes.end());
  }
  EXPECT_TRUE(TiffOf(std::as_bytes(std::span(name))).empty());
}

TEST(Exif, NonsenseInTheTagIsNoOrientation) {
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 1, 0)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 1, 9)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 3, 1, 65535)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 2, 2, '6', 2)).orientation, 0);  // text
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 5, 1, Ratio(false, 13, 2), 8)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 5, 1, Ratio(false, 6, 0), 8)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 5, 1, Ratio(false, 0, 0), 8)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(false, 0x0112, 11, 1, std::bit_cast<uint32_t>(6.5F), 4)).orientation, 0);
  EXPECT_EQ(ReadExif(Tiff(true, 0x0112, 9, 1, uint32_t(-6), 4)).orientation, 0);
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
