// SPDX-License-Identifier: Apache-2.0
// That the pixels are Pillow's is tests/frameworks/test_pixels_pillow.py; here is what becomes of files that are no
// good, and of bounds.
#include "decode/jpeg_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/decode_pixels/files.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

// Where marker FF `code` begins.
size_t FindMarker(const FileBytes& jpeg, uint8_t code) {
  for (size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == std::byte{0xFF} && jpeg[i + 1] == std::byte{code}) return i;
  }
  return jpeg.size();
}

TEST(JpegDecoder, GivesAnImageOfTheFilesSize) {
  const auto image = DecodeJpeg(MakeJpegFile(37, 21));
  ASSERT_TRUE(image.ok()) << image.status().text();
  EXPECT_EQ(image->width, 37U);
  EXPECT_EQ(image->height, 21U);
  EXPECT_EQ(image->channels, 3U);
}

TEST(JpegDecoder, KeepsGreyOrRepeatsItThreeTimes) {
  const FileBytes file = MakeJpegFile(40, 30, {.space = 1, .sampling = {11}});
  const auto grey = DecodeJpeg(file, {.keep_grey = true});
  const auto color = DecodeJpeg(file);
  ASSERT_TRUE(grey.ok() && color.ok());
  ASSERT_EQ(grey->channels, 1U);
  ASSERT_EQ(color->channels, 3U);
  for (size_t i = 0; i < grey->bytes(); ++i) {
    for (size_t channel = 0; channel < 3; ++channel) ASSERT_EQ(color->pixels[i * 3 + channel], grey->pixels[i]);
  }
}

TEST(JpegDecoder, TakesNoInkForWhiteAndAllInkForBlack) {
  for (const uint8_t sample : {uint8_t{0}, uint8_t{255}}) {
    const std::vector<uint8_t> samples(size_t{16} * 16 * 4, sample);  // inverted, as Adobe writes them: 255 is no ink
    for (const int space : {4, 5}) {
      const auto image = DecodeJpeg(
          WriteOddJpeg(samples.data(), 16, 16, {.space = space, .quality = 100, .sampling = {11, 11, 11, 11}}));
      ASSERT_TRUE(image.ok());
      EXPECT_THAT(PixelsOf(*image), ::testing::Each(sample)) << "space " << space;
    }
  }
}

TEST(JpegDecoder, SaysTruncatedWhereverTheFileIsCut) {
  for (const bool progressive : {false, true}) {
    const FileBytes file = MakeJpegFile(64, 48, {.progressive = progressive});
    const size_t pixels = FindMarker(file, 0xDA);
    for (size_t bytes = 4; bytes < file.size() * 3 / 4; bytes += 7) {
      const auto image = DecodeJpeg(std::span(file).first(bytes));
      ASSERT_FALSE(image.ok()) << bytes;
      EXPECT_EQ(image.status().code(), Code::kCorrupt);
      EXPECT_THAT(image.status().text(), HasSubstr("truncated"));
      // Behind the header a tolerant reader gets an image, before its end nobody.
      const auto tolerant = DecodeJpeg(std::span(file).first(bytes), {.tolerant = true});
      if (bytes < pixels || bytes > pixels + 16) {
        EXPECT_EQ(tolerant.ok(), bytes > pixels) << bytes;
      }
    }
  }
}

TEST(JpegDecoder, TolerantKeepsTheRowsThatThereAre) {
  const FileBytes file = MakeJpegFile(64, 256);
  const auto whole = DecodeJpeg(file);
  const auto half = DecodeJpeg(std::span(file).first(file.size() / 2), {.tolerant = true});
  ASSERT_TRUE(whole.ok() && half.ok());
  ASSERT_EQ(half->height, whole->height);
  EXPECT_TRUE(std::equal(whole->pixels.get(), whole->pixels.get() + whole->row_bytes() * 48, half->pixels.get()));
}

TEST(JpegDecoder, AnEmptyFileAndNoiseAreErrors) {
  EXPECT_EQ(DecodeJpeg({}).status().code(), Code::kCorrupt);
  const FileBytes noise(1000, std::byte{0x55});
  EXPECT_EQ(DecodeJpeg(noise).status().code(), Code::kCorrupt);
  EXPECT_EQ(DecodeJpeg(noise, {.tolerant = true}).status().code(), Code::kCorrupt);
}

TEST(JpegDecoder, MeasureSaysWhatDecodeGives) {
  for (const uint32_t scale : {1U, 2U, 4U, 8U}) {
    const FileBytes file = MakeJpegFile(101, 67);
    const DecodeOptions options{.scale_denominator = scale};
    const auto needs = MeasureJpeg(file, options);
    const auto image = DecodeJpeg(file, options);
    ASSERT_TRUE(needs.ok() && image.ok());
    EXPECT_EQ(needs->width, (101 + scale - 1) / scale);
    EXPECT_EQ(needs->height, (67 + scale - 1) / scale);
    EXPECT_EQ(image->width, needs->width);
    EXPECT_EQ(image->height, needs->height);
    EXPECT_GE(needs->memory_bytes, image->bytes());
  }
}

TEST(JpegDecoder, CountsTheCoefficientsOfSeveralScans) {
  const OddJpeg full{.progressive = true, .sampling = {11, 11, 11}};
  const auto progressive = MeasureJpeg(MakeJpegFile(800, 800, full));
  const auto sequential = MeasureJpeg(MakeJpegFile(800, 800, {.sampling = {11, 11, 11}}));
  ASSERT_TRUE(progressive.ok() && sequential.ok());
  // 100 x 100 blocks of 64 coefficients of two bytes, three components.
  EXPECT_EQ(progressive->memory_bytes - sequential->memory_bytes, 100U * 100 * 64 * 2 * 3);
}

TEST(JpegDecoder, RefusesWhatIsOverABound) {
  const FileBytes file = MakeJpegFile(800, 800, {.progressive = true});
  const auto pixels = DecodeJpeg(file, {.pixels_max = 639'999});
  EXPECT_EQ(pixels.status().code(), Code::kUnsupported);
  EXPECT_THAT(pixels.status().text(), HasSubstr("800x800"));
  const uint64_t needed = MeasureJpeg(file)->memory_bytes;
  EXPECT_EQ(DecodeJpeg(file, {.memory_bytes_max = needed - 1}).status().code(), Code::kUnsupported);
  EXPECT_TRUE(DecodeJpeg(file, {.pixels_max = 640'000, .memory_bytes_max = needed}).ok());
}

TEST(JpegDecoder, RefusesAHugeHeaderWithoutItsMemory) {
  FileBytes file = MakeJpegFile(64, 64, {.progressive = true});
  const size_t frame = FindMarker(file, 0xC2);
  for (const size_t i : {5U, 7U}) {  // height and width: 65,500 each
    file[frame + i] = std::byte{0xFF};
    file[frame + i + 1] = std::byte{0xDC};
  }
  // Its coefficients would be 25 GB.
  EXPECT_THAT(DecodeJpeg(file, {.tolerant = true}).status().text(), HasSubstr("refused"));
}

TEST(JpegDecoder, GivesUpOnAProgressiveBomb) {
  FileBytes file = MakeJpegFile(64, 64, {.progressive = true});
  const size_t end = file.size() - 2;
  // The last scan refines the luminance; again and again it goes on refining nothing.
  size_t scan = 0;
  for (size_t i = 0; i + 1 < end; ++i) {
    if (file[i] == std::byte{0xFF} && file[i + 1] == std::byte{0xDA}) scan = i;
  }
  const FileBytes last(file.begin() + static_cast<ptrdiff_t>(scan), file.begin() + static_cast<ptrdiff_t>(end));
  for (int i = 0; i < 20; ++i) file.insert(file.end() - 2, last.begin(), last.end());
  EXPECT_TRUE(DecodeJpeg(file).ok());
  for (int i = 0; i < 200; ++i) file.insert(file.end() - 2, last.begin(), last.end());
  EXPECT_EQ(DecodeJpeg(file).status().code(), Code::kCorrupt);
}

TEST(JpegDecoder, PrintsNothing) {
  FileBytes file = MakeJpegFile(64, 64);
  for (size_t i = FindMarker(file, 0xDA) + 20; i < file.size(); i += 11) file[i] ^= std::byte{0x5A};
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(DecodeJpeg(file, {.tolerant = true}).ok());
  EXPECT_FALSE(DecodeJpeg(std::span(file).first(file.size() / 2)).ok());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(JpegDecoder, ScaleDenominatorNeverGoesBelowWhatIsWanted) {
  EXPECT_EQ(ScaleDenominatorFor(500, 375, 256, 256), 1U);
  EXPECT_EQ(ScaleDenominatorFor(512, 512, 256, 256), 2U);
  EXPECT_EQ(ScaleDenominatorFor(2000, 1500, 224, 224), 4U);
  EXPECT_EQ(ScaleDenominatorFor(8000, 6000, 224, 224), 8U);
  EXPECT_EQ(ScaleDenominatorFor(100, 100, 224, 224), 1U);
}

// A lossless grey JPEG of 128, the middle: every difference is 0, coded as one bit of 0. `predictor` and `names` of
// components are wrong on purpose.
FileBytes Lossless(uint8_t width, uint8_t height, uint8_t predictor = 1, uint8_t table = 0,
                   uint8_t restart_samples = 0) {
  FileBytes file;
  const auto put = [&file](std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) file.push_back(std::byte(byte));
  };
  put({0xFF, 0xD8, 0xFF, 0xC4, 0, 20, table, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  put({0xFF, 0xC3, 0, 11, 8, 0, height, 0, width, 1, 1, 0x11, 0});
  if (restart_samples > 0) put({0xFF, 0xDD, 0, 4, 0, restart_samples});
  put({0xFF, 0xDA, 0, 8, 1, 1, 0, predictor, 0, 0});
  for (int byte = 0; byte < width * height / 8; ++byte) put({0});
  put({0xFF, 0xD9});
  return file;
}

TEST(LosslessJpeg, IsDecodedWithoutLibjpeg) {
  for (uint8_t predictor = 1; predictor <= 7; ++predictor) {
    const auto image = DecodeJpeg(Lossless(16, 4, predictor), {.keep_grey = true});
    ASSERT_TRUE(image.ok()) << image.status().text();
    EXPECT_EQ(PixelsOf(*image), std::vector<uint8_t>(64, 128));
    EXPECT_EQ(DecodeJpeg(Lossless(16, 4, predictor))->channels, 3U);
  }
}

TEST(LosslessJpeg, WhatIsBrokenIsAnErrorWithAName) {
  EXPECT_THAT(DecodeJpeg(Lossless(16, 4, 0)).status().text(), HasSubstr("no such predictor"));
  EXPECT_THAT(DecodeJpeg(Lossless(16, 4, 8)).status().text(), HasSubstr("no such predictor"));
  EXPECT_THAT(DecodeJpeg(Lossless(16, 4, 1, 1)).status().text(), HasSubstr("without its Huffman table"));
  EXPECT_THAT(DecodeJpeg(Lossless(16, 4, 1, 0, 5)).status().text(), HasSubstr("restart interval"));
  EXPECT_THAT(DecodeJpeg(Lossless(16, 4, 1, 0, 16)).status().text(), HasSubstr("a restart is missing"));
  FileBytes file = Lossless(16, 4);
  file[file.size() - 3] = std::byte{0x80};  // no code begins with a 1
  EXPECT_THAT(DecodeJpeg(file).status().text(), HasSubstr("the pixels are broken"));
}

TEST(LosslessJpeg, ACutFileIsTruncatedOrHasTheRowsThatThereAre) {
  const FileBytes file = Lossless(16, 4);
  const size_t scan = FindMarker(file, 0xDA);  // before that it has no header
  // Without its end, too, although all of its 64 bits are there: libjpeg looks for more before it takes the last 7.
  for (size_t bytes = scan; bytes < file.size(); ++bytes) {
    const auto image = DecodeJpeg(std::span(file).first(bytes));
    ASSERT_FALSE(image.ok()) << bytes;
    EXPECT_THAT(image.status().text(), HasSubstr("truncated")) << bytes;
  }
  // Of 28 bytes of 32 libjpeg takes 8 and twice 7; it does not go on with the last 7 of those bits, since there are no
  // 7 bytes more. So it has 169 samples, which are 10 rows.
  const FileBytes larger = Lossless(16, 16);
  const auto image = DecodeJpeg(std::span(larger).first(larger.size() - 6), {.keep_grey = true, .tolerant = true});
  ASSERT_TRUE(image.ok()) << image.status().text();
  std::vector<uint8_t> rows(256);
  std::fill_n(rows.begin(), 160, uint8_t{128});
  EXPECT_EQ(PixelsOf(*image), rows);
}

TEST(LosslessJpeg, IsHeldToTheBounds) {
  const FileBytes file = Lossless(16, 4);
  const uint64_t needed = MeasureJpeg(file)->memory_bytes;
  EXPECT_GE(needed, 16U * 4 * 4);  // RGB, and the grey beside it
  EXPECT_EQ(DecodeJpeg(file, {.memory_bytes_max = needed - 1}).status().code(), Code::kUnsupported);
  EXPECT_EQ(DecodeJpeg(file, {.pixels_max = 63}).status().code(), Code::kUnsupported);
  EXPECT_TRUE(DecodeJpeg(file, {.pixels_max = 64, .memory_bytes_max = needed}).ok());
}

}  // namespace
}  // namespace augur
