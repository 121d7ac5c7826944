// SPDX-License-Identifier: Apache-2.0
#include "decode/image_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "decode/image_probe.h"
#include "unit/decode_pixels/files.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> Span(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(ImageDecoder, GoesByContent) {
  const FileBytes jpeg = MakeJpegFile(20, 10);
  const FileBytes png = MakePngFile(30, 10, SPNG_COLOR_TYPE_GRAYSCALE, 8, MakeSamples(30, 10, 1));
  EXPECT_EQ(DecodeImage(jpeg)->width, 20U);
  EXPECT_EQ(DecodeImage(png)->width, 30U);
  EXPECT_EQ(MeasureImage(jpeg)->width, 20U);
  EXPECT_EQ(MeasureImage(png)->channels, 3U);
  EXPECT_EQ(MeasureImage(png, {.keep_grey = true})->channels, 1U);
}

TEST(ImageDecoder, SaysThatAFileIsNoImage) {
  for (const std::string_view text : {"", "\xFF\xD8", "<html>404</html>", "GIF89a", "\x89PNG"}) {
    for (const bool tolerant : {false, true}) {
      const auto image = DecodeImage(Span(text), {.tolerant = tolerant});
      ASSERT_FALSE(image.ok());
      EXPECT_EQ(image.status().code(), Code::kCorrupt);
      EXPECT_THAT(image.status().text(), HasSubstr("not an image"));
      EXPECT_THAT(MeasureImage(Span(text)).status().text(), HasSubstr("not an image"));
    }
  }
}

TEST(ImageDecoder, TellsItsVersions) {
  EXPECT_NE(DecoderVersions(), 0U);
  EXPECT_EQ(DecoderVersions(), DecoderVersions());
}

// What is expected before a file is there is what the file says, where it is coded as most are; others need more.
TEST(ImageDecoder, ExpectsWhatMostFilesNeed) {
  const auto info_of = [](const FileBytes& file) { return ProbeImage(file); };
  for (const bool keep_grey : {false, true}) {
    for (const uint32_t scale : {1U, 2U, 4U, 8U}) {
      const DecodeOptions options{.keep_grey = keep_grey, .scale_denominator = scale};
      for (const int space : {1, 2, 3, 4, 5}) {
        const size_t components = space == 1 ? 1 : space >= 4 ? 4 : 3;
        OddJpeg how{.space = space, .sampling = std::vector<int>(components, 11)};
        const FileBytes plain = MakeJpegFile(203, 101, how);
        const DecodeNeeds expected = ExpectNeeds(info_of(plain), options);
        const DecodeNeeds measured = *MeasureImage(plain, options);
        EXPECT_EQ(expected.memory_bytes, measured.memory_bytes) << space;
        EXPECT_EQ(expected.width, measured.width);
        EXPECT_EQ(expected.height, measured.height);
        EXPECT_EQ(expected.channels, measured.channels);
        how.progressive = true;
        const FileBytes progressive = MakeJpegFile(203, 101, how);
        EXPECT_LT(ExpectNeeds(info_of(progressive), options).memory_bytes,
                  MeasureImage(progressive, options)->memory_bytes);
      }
    }
    const DecodeOptions options{.keep_grey = keep_grey};
    for (const uint8_t color : {SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                                SPNG_COLOR_TYPE_TRUECOLOR_ALPHA}) {
      const uint32_t samples = color == SPNG_COLOR_TYPE_TRUECOLOR         ? 3
                               : color == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4
                               : color == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                                                                          : 1;
      const FileBytes png = MakePngFile(203, 101, color, 8, MakeSamples(203, 101, samples));
      EXPECT_EQ(ExpectNeeds(info_of(png), options).memory_bytes, MeasureImage(png, options)->memory_bytes);
    }
  }
}

// The pixels go where they are wanted, if there is just their room.
TEST(ImageDecoder, DecodesIntoRoom) {
  for (const FileBytes& file : {MakeJpegFile(40, 30), MakeJpegFile(40, 30, {.progressive = true}),
                                MakeJpegFile(40, 30, {.space = 4, .sampling = {11, 11, 11, 11}}),
                                MakePngFile(40, 30, SPNG_COLOR_TYPE_TRUECOLOR, 8, MakeSamples(40, 30, 3))}) {
    const Result<Image> image = DecodeImage(file);
    ASSERT_TRUE(image.ok());
    std::vector<uint8_t> room(image->bytes());
    const Result<Image> there = DecodeImage(file, {.room = room});
    ASSERT_TRUE(there.ok());
    EXPECT_EQ(there->pixels.get(), room.data());
    EXPECT_EQ(room, PixelsOf(*image));
    room.push_back(0);
    const Result<Image> elsewhere = DecodeImage(file, {.room = room});
    ASSERT_TRUE(elsewhere.ok());
    EXPECT_NE(elsewhere->pixels.get(), room.data());
    EXPECT_EQ(PixelsOf(*elsewhere), PixelsOf(*image));
  }
}

}  // namespace
}  // namespace augur
