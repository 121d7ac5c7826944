// SPDX-License-Identifier: Apache-2.0
#include "decode/ppm_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

void ExpectFile(const Image& image, const std::string& header) {
  GuardedBytes file(PpmBytes(image.width, image.height, image.channels));
  WritePpm(image, file.span());
  EXPECT_TRUE(file.guards_hold());
  ASSERT_EQ(file.span().size(), header.size() + image.bytes());
  EXPECT_EQ(std::memcmp(file.data(), header.data(), header.size()), 0);
  EXPECT_EQ(std::memcmp(file.data() + header.size(), image.pixels.get(), image.bytes()), 0);
}

TEST(PpmWriter, Colour) { ExpectFile(RandomImage(10, 200, 3), "P6\n10 200\n255\n"); }
TEST(PpmWriter, Grey) { ExpectFile(RandomImage(1, 9, 1), "P5\n1 9\n255\n"); }

TEST(PpmWriter, SizeNeedsNoPixels) {
  EXPECT_EQ(PpmBytes(UINT32_MAX, 1, 3), std::string("P6\n4294967295 1\n255\n").size() + 3 * uint64_t{UINT32_MAX});
}

}  // namespace
}  // namespace augur
