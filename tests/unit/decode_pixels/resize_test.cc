// SPDX-License-Identifier: Apache-2.0
// That the bytes are Pillow's is tests/frameworks/test_pixels_pillow.py, with the vectors of that machine. Here all
// vectors that this one has are held against sums worked out one by one.
#include "decode/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "decode/resize_kernels.h"
#include "unit/decode_pixels/files.h"
#include "unit/seed_search/targets.h"

namespace augur {
namespace {

constexpr ResizeFilter kFilters[] = {ResizeFilter::kBilinear, ResizeFilter::kBicubic, ResizeFilter::kLanczos};

Image MakePhoto(uint32_t width, uint32_t height, uint32_t channels, uint32_t seed = 1) {
  Image image = MakeImage(width, height, channels);
  const std::vector<uint8_t> samples = MakeSamples(width, height, channels, seed);
  std::memcpy(image.pixels.get(), samples.data(), samples.size());
  return image;
}

// One pass along rows, every weight put together from its digits.
Image Across(const Image& image, const AxisWeights& weights) {
  Image result = MakeImage(weights.out_size(), image.height, image.channels);
  uint8_t* out = result.pixels.get();
  for (uint32_t y = 0; y < result.height; ++y) {
    for (uint32_t x = 0; x < result.width; ++x) {
      for (uint32_t channel = 0; channel < image.channels; ++channel) {
        int64_t sum = 1 << 21;
        for (uint32_t tap = 0; tap < weights.count(x); ++tap) {
          const int64_t weight = weights.low(x)[tap] + weights.high(x)[tap] * int64_t{32768};
          sum +=
              weight * image.pixels[y * image.row_bytes() + size_t{weights.begin(x) + tap} * image.channels + channel];
        }
        *out++ = static_cast<uint8_t>(std::clamp<int64_t>(sum >> 22, 0, 255));
      }
    }
  }
  return result;
}

Image Turned(const Image& image) {
  Image result = MakeImage(image.height, image.width, image.channels);
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      std::memcpy(result.pixels.get() + x * result.row_bytes() + size_t{y} * image.channels,
                  image.pixels.get() + y * image.row_bytes() + size_t{x} * image.channels, image.channels);
    }
  }
  return result;
}

Image Expected(const Image& image, uint32_t width, uint32_t height, ResizeFilter filter, bool vertical_first) {
  const AxisWeights across({image.width, width, 0, static_cast<float>(image.width), filter});
  const AxisWeights down({image.height, height, 0, static_cast<float>(image.height), filter});
  if (vertical_first) return Across(Turned(Across(Turned(image), down)), across);
  return Turned(Across(Turned(Across(image, across)), down));
}

TEST(Resize, EveryTargetGivesTheSumsOneByOne) {
  std::set<std::string> targets;
  ForEachTarget([&] {
    targets.insert(ResizeTarget());
    std::mt19937 generator(7);
    const auto random = [&] { return static_cast<uint32_t>(generator()); };
    Resizer resizer;
    for (int round = 0; round < 120; ++round) {
      const uint32_t channels = round % 3 == 0 ? 1 : 3;
      const Image image = MakePhoto(1 + random() % 90, 1 + random() % 90, channels, random());
      ResizeSpec spec{.width = 1 + random() % 120, .height = 1 + random() % 120, .filter = kFilters[random() % 3]};
      if (spec.width == image.width || spec.height == image.height) continue;
      const bool tall = image.height > 100 * image.width && spec.height < image.height;
      const Image rows_first = Expected(image, spec.width, spec.height, spec.filter, tall);
      const auto found = resizer.Resize(image, spec);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(PixelsOf(*found), PixelsOf(rows_first)) << ResizeTarget() << " round " << round;
      spec.passes = PassOrder::kPillow13;
      const int rows = static_cast<int>(image.height) - static_cast<int>(spec.height);
      const int columns = static_cast<int>(image.width) - static_cast<int>(spec.width);
      const bool vertical_first = rows > 0 && rows > 2 * columns;
      ASSERT_EQ(PixelsOf(*resizer.Resize(image, spec)),
                PixelsOf(Expected(image, spec.width, spec.height, spec.filter, vertical_first)))
          << ResizeTarget() << " round " << round;
    }
  });
  EXPECT_GT(targets.size(), 1U) << "this processor has nothing to compare";
}

// Thousands of taps an output, whose sums reach the ends of 32 bits.
TEST(Resize, EveryTargetSumsLongRows) {
  Image image = MakeImage(20'000, 3, 1);
  std::mt19937 random(3);
  for (size_t i = 0; i < image.bytes(); ++i) image.pixels[i] = random() % 2 == 0 ? 255 : 0;
  ForEachTarget([&] {
    Resizer resizer;
    for (const ResizeFilter filter : kFilters) {
      const auto found = resizer.Resize(image, {.width = 7, .height = 2, .filter = filter});
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(PixelsOf(*found), PixelsOf(Expected(image, 7, 2, filter, false))) << ResizeTarget();
    }
  });
}

TEST(Resize, TheSameSizeIsACopyAndOneColorStaysIt) {
  Resizer resizer;
  const Image image = MakePhoto(31, 17, 3);
  EXPECT_EQ(PixelsOf(*resizer.Resize(image, {.width = 31, .height = 17})), PixelsOf(image));
  for (const ResizeFilter filter : kFilters) {
    Image plain = MakeImage(50, 40, 3);
    std::memset(plain.pixels.get(), 201, plain.bytes());
    const auto small = resizer.Resize(plain, {.width = 13, .height = 90, .filter = filter});
    EXPECT_THAT(PixelsOf(*small), ::testing::Each(201));
  }
}

// Weights of a triangle over two pixels: the average, rounded up from a half.
TEST(Resize, HalvesByAverage) {
  Image image = MakeImage(2, 2, 1);
  const uint8_t pixels[] = {0, 1, 2, 7};
  std::memcpy(image.pixels.get(), pixels, sizeof(pixels));
  Resizer resizer;
  EXPECT_THAT(PixelsOf(*resizer.Resize(image, {.width = 1, .height = 2})), ::testing::ElementsAre(1, 5));
  EXPECT_THAT(PixelsOf(*resizer.Resize(image, {.width = 2, .height = 1})), ::testing::ElementsAre(1, 4));
}

TEST(Resize, ABoxIsThePartOfTheImageWhenItsEdgesAreOutOfReach) {
  Resizer resizer;
  const Image image = MakePhoto(60, 40, 3);
  // Only the right half: the same as without the box where the filter does not reach over its left edge.
  const auto box = resizer.Resize(image, {.width = 15, .height = 20, .box = ResizeBox{30, 0, 60, 40}});
  const auto whole = resizer.Resize(image, {.width = 30, .height = 20});
  ASSERT_TRUE(box.ok() && whole.ok());
  for (uint32_t y = 0; y < 20; ++y) {
    EXPECT_EQ(
        std::memcmp(box->pixels.get() + y * box->row_bytes(), whole->pixels.get() + y * whole->row_bytes() + 45, 45),
        0);
  }
}

TEST(Resize, SaysWhatItTakes) {
  const ResizeSpec spec{.width = 224, .height = 224};
  const AxisWeights across({500, 224, 0, 500, ResizeFilter::kBilinear});
  const AxisWeights down({375, 224, 0, 375, ResizeFilter::kBilinear});
  EXPECT_EQ(AxisWeights::TapsMax({500, 224, 0, 500, ResizeFilter::kBilinear}), across.taps_max());
  const uint64_t bytes = Resizer::MemoryBytes(500, 375, 3, spec);
  const uint64_t result = uint64_t{224} * 224 * 3;
  EXPECT_GE(bytes, result + across.bytes() + down.bytes());
  EXPECT_LE(bytes, result + 100'000);
  // The rows of a window, not the 3,000,000 x 5 bytes of an image in between.
  EXPECT_LE(Resizer::MemoryBytes(5'000, 5'000, 3, {.width = 1'000, .height = 1'000}),
            uint64_t{1'000} * 1'000 * 3 + 600'000);
}

TEST(Resize, RefusesWhatHasNoPixels) {
  Resizer resizer;
  const Image image = MakePhoto(6, 4, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(resizer.Resize(image, {.width = 0, .height = 1}).status().code(), Code::kInvalid);
  EXPECT_EQ(resizer.Resize(image, {.width = 1, .height = 0}).status().code(), Code::kInvalid);
  for (const ResizeBox& box : {ResizeBox{0, 0, 0, 4}, ResizeBox{3, 0, 2, 4}, ResizeBox{-1, 0, 6, 4},
                               ResizeBox{0, 0, 6, 5}, ResizeBox{nan, 0, 6, 4}, ResizeBox{0, 0, 6, nan}}) {
    EXPECT_EQ(resizer.Resize(image, {.width = 2, .height = 2, .box = box}).status().code(), Code::kInvalid);
  }
  EXPECT_EQ(resizer.Resize(image, {.width = (1 << 24) + 1, .height = 1}).status().code(), Code::kUnsupported);
}

TEST(Resize, ManyThreadsShareOneResizer) {
  Resizer resizer;
  const Image image = MakePhoto(61, 47, 3);
  const std::vector<uint8_t> expected = PixelsOf(*resizer.Resize(image, {.width = 20, .height = 15}));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < 200; ++i) {
        // Other sizes in between, each thread's in another order.
        if (!resizer.Resize(image, {.width = 1 + (i * (thread + 1)) % 40, .height = 9}).ok()) ++wrong;
        if (PixelsOf(*resizer.Resize(image, {.width = 20, .height = 15})) != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(WeightTables, AreMadeOnceAndBounded) {
  WeightTables tables;
  const Axis axis{500, 224, 0, 500, ResizeFilter::kBilinear};
  const auto first = tables.Get(axis);
  EXPECT_EQ(tables.Get(axis), first);
  EXPECT_EQ(tables.bytes(), first->bytes());
  for (uint32_t size = 1; size < 2'000; ++size) {
    tables.Get({size, 224, 0, static_cast<float>(size), ResizeFilter::kLanczos});
    ASSERT_LE(tables.bytes(), WeightTables::kBytesMax);
  }
  EXPECT_NE(tables.Get(axis), first);  // dropped long ago, and still ours
  EXPECT_EQ(first->in_size(), 500U);
}

}  // namespace
}  // namespace augur
