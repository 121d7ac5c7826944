// SPDX-License-Identifier: Apache-2.0
// What NumPy and torchvision make of it, byte for byte, is in tests/frameworks/test_view_arrays.py.
#include "decode/npy_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

// The bytes of a file, and its header as text.
struct File {
  File(const Image& image, const ArrayFormat& format)
      : bytes(NpyBytes(image.width, image.height, image.channels, format.type)) {
    WriteNpy(image, format, bytes.span());
    EXPECT_TRUE(bytes.guards_hold());
    header.assign(reinterpret_cast<const char*>(bytes.data()), kNpyHeaderBytes);
  }
  const uint8_t* array() { return bytes.data() + kNpyHeaderBytes; }
  float Float(size_t i) {
    float number = 0;
    std::memcpy(&number, array() + i * sizeof number, sizeof number);
    return number;
  }
  GuardedBytes bytes;
  std::string header;
};

std::string Header(const std::string& dictionary) {
  std::string header = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary;
  header.resize(127, ' ');
  return header + '\n';
}

TEST(NpyWriter, Headers) {
  EXPECT_EQ(File(RandomImage(5, 4, 3), {}).header,
            Header("{'descr': '|u1', 'fortran_order': False, 'shape': (4, 5, 3), }"));
  EXPECT_EQ(File(RandomImage(5, 4, 3), {.layout = ArrayLayout::kChw, .type = ArrayType::kF32}).header,
            Header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 5), }"));
  EXPECT_EQ(File(RandomImage(5, 4, 1), {.layout = ArrayLayout::kChw}).header,
            Header("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 4, 5), }"));
}

TEST(NpyWriter, HwcIsThePixels) {
  const Image image = RandomImage(7, 5, 3);
  File file(image, {});
  EXPECT_EQ(std::memcmp(file.array(), image.pixels.get(), image.bytes()), 0);
}

TEST(NpyWriter, ChwIsPlanes) {
  for (const uint32_t width : {1U, 15U, 16U, 17U, 64U, 300U}) {
    const Image image = RandomImage(width, 9, 3);
    File file(image, {.layout = ArrayLayout::kChw});
    const size_t count = size_t{width} * 9;
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < 3; ++c) ASSERT_EQ(file.array()[c * count + i], image.pixels[3 * i + c]);
    }
  }
}

TEST(NpyWriter, FloatsAreThreeRoundedSteps) {
  const ArrayFormat hwc{.type = ArrayType::kF32, .mean = {0.485F, 0.456F, 0.406F}, .std = {0.229F, 0.224F, 0.225F}};
  ArrayFormat chw = hwc;
  chw.layout = ArrayLayout::kChw;
  const Image image = RandomImage(61, 83, 3);
  File by_pixel(image, hwc);
  File by_plane(image, chw);
  const size_t count = size_t{61} * 83;
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      volatile float expected = static_cast<float>(image.pixels[3 * i + c]) / 255.0F;
      expected = expected - hwc.mean[c];
      expected = expected / hwc.std[c];
      ASSERT_EQ(by_pixel.Float(3 * i + c), expected);
      ASSERT_EQ(by_plane.Float(c * count + i), expected);
    }
  }
}

TEST(NpyWriter, GreyTakesTheFirstMeanAndStd) {
  const Image image = RandomImage(3, 2, 1);
  File file(image, {.type = ArrayType::kF32, .mean = {0.5F, 0, 0}, .std = {0.25F, 1, 1}});
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(file.Float(i), (static_cast<float>(image.pixels[i]) / 255.0F - 0.5F) / 0.25F);
  }
}

}  // namespace
}  // namespace augur
