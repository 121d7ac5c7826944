// SPDX-License-Identifier: Apache-2.0
#include "decode/rgb_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

// Every count about the sizes of vectors, written to exactly that many bytes.
TEST(RgbBytes, EveryCount) {
  for (uint32_t count = 1; count < 200; ++count) {
    const Image image = RandomImage(count, 1, 3, count);
    std::vector<uint8_t> planes[3] = {std::vector<uint8_t>(count), std::vector<uint8_t>(count),
                                      std::vector<uint8_t>(count)};
    std::vector<uint8_t> bgr(3 * size_t{count});
    SplitRgb(image.pixels.get(), count, planes[0].data(), planes[1].data(), planes[2].data());
    SwapRedBlue(image.pixels.get(), count, bgr.data());
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(planes[c][i], image.pixels[3 * i + c]) << count;
        ASSERT_EQ(bgr[3 * i + 2 - c], image.pixels[3 * i + c]) << count;
      }
    }
  }
}

}  // namespace
}  // namespace augur
