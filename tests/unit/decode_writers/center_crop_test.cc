// SPDX-License-Identifier: Apache-2.0
// torchvision's own CenterCrop beside it is in tests/frameworks/test_view_geometry.py.
#include "decode/center_crop.h"

#include <gtest/gtest.h>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

TEST(CenterCrop, HalfPixelsGoToTheEvenSide) {
  EXPECT_EQ(CenterCropBegin(10, 4), 3);
  EXPECT_EQ(CenterCropBegin(11, 10), 0);  // round(0.5)
  EXPECT_EQ(CenterCropBegin(13, 10), 2);  // round(1.5)
  EXPECT_EQ(CenterCropBegin(15, 10), 2);  // round(2.5)
  EXPECT_EQ(CenterCropBegin(17, 10), 4);  // round(3.5)
  EXPECT_EQ(CenterCropBegin(10, 10), 0);
}

TEST(CenterCrop, ShortSidesArePaddedLessInFront) {
  EXPECT_EQ(CenterCropBegin(9, 10), 0);
  EXPECT_EQ(CenterCropBegin(8, 10), -1);
  EXPECT_EQ(CenterCropBegin(7, 10), -1);
  EXPECT_EQ(CenterCropBegin(1, UINT32_MAX), -int64_t{UINT32_MAX / 2});
}

TEST(CenterCrop, EveryPixelIsInItsPlace) {
  for (const uint32_t channels : {1U, 3U}) {
    for (uint32_t width = 1; width < 9; ++width) {
      for (uint32_t height = 1; height < 9; ++height) {
        const Image image = RandomImage(width, height, channels);
        for (uint32_t crop = 1; crop < 11; ++crop) {
          const Image out = CenterCrop(image, crop, crop + 1);
          ASSERT_EQ(out.width, crop);
          ASSERT_EQ(out.height, crop + 1);
          ASSERT_EQ(out.channels, channels);
          const int64_t left = CenterCropBegin(width, crop);
          const int64_t top = CenterCropBegin(height, crop + 1);
          for (int64_t y = 0; y < out.height; ++y) {
            for (int64_t x = 0; x < out.width; ++x) {
              const int64_t from_x = x + left;
              const int64_t from_y = y + top;
              const bool inside = from_x >= 0 && from_x < width && from_y >= 0 && from_y < height;
              for (uint32_t c = 0; c < channels; ++c) {
                ASSERT_EQ(out.pixels[(y * out.width + x) * channels + c],
                          inside ? image.pixels[(from_y * width + from_x) * channels + c] : 0);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace augur
