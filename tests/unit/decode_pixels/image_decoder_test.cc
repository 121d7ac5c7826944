// SPDX-License-Identifier: Apache-2.0
#include "decode/image_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

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

}  // namespace
}  // namespace augur
