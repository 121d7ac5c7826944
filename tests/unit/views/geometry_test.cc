// SPDX-License-Identifier: Apache-2.0
// The arithmetic against torchvision itself is in tests/frameworks/test_view_geometry.py.
#include "views/geometry.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

ImageExtent Resized(uint32_t width, uint32_t height, Fit fit, ImageExtent image) {
  return ResizedExtent({.width = width, .height = height, .fit = fit}, image);
}

TEST(Geometry, ShorterSideBecomesTheNumberAndTheLongerOneIsCutOff) {
  EXPECT_EQ(Resized(256, 256, Fit::kShort, {500, 375}), (ImageExtent{341, 256}));  // 341.33
  EXPECT_EQ(Resized(256, 256, Fit::kShort, {375, 500}), (ImageExtent{256, 341}));
  EXPECT_EQ(Resized(256, 256, Fit::kShort, {500, 500}), (ImageExtent{256, 256}));
  EXPECT_EQ(Resized(256, 256, Fit::kShort, {300, 299}), (ImageExtent{256, 256}));  // 256.86
}

TEST(Geometry, LongerSideBecomesTheNumber) {
  EXPECT_EQ(Resized(256, 256, Fit::kLong, {500, 375}), (ImageExtent{256, 192}));
  EXPECT_EQ(Resized(256, 256, Fit::kLong, {375, 500}), (ImageExtent{192, 256}));
  EXPECT_EQ(Resized(100, 100, Fit::kLong, {3, 1000}), (ImageExtent{1, 100})) << "no side is ever 0";
}

TEST(Geometry, BoxIsCoveredStayedInsideOrFilled) {
  EXPECT_EQ(Resized(200, 100, Fit::kShort, {400, 400}), (ImageExtent{200, 200}));
  EXPECT_EQ(Resized(200, 100, Fit::kLong, {400, 400}), (ImageExtent{100, 100}));
  EXPECT_EQ(Resized(200, 100, Fit::kSquash, {400, 400}), (ImageExtent{200, 100}));
  EXPECT_EQ(Resized(200, 100, Fit::kShort, {1000, 100}), (ImageExtent{1000, 100}));
  EXPECT_EQ(Resized(200, 100, Fit::kLong, {1000, 100}), (ImageExtent{200, 20}));
}

TEST(Geometry, CoveringHasBothSidesAndInsideNeither) {
  for (uint32_t width = 1; width < 60; ++width) {
    for (uint32_t height = 1; height < 60; ++height) {
      const ImageExtent cover = Resized(37, 23, Fit::kShort, {width, height});
      EXPECT_TRUE(cover.width >= 37 && cover.height >= 23 && (cover.width == 37 || cover.height == 23));
      const ImageExtent inside = Resized(37, 23, Fit::kLong, {width, height});
      EXPECT_TRUE(inside.width <= 37 && inside.height <= 23 && (inside.width == 37 || inside.height == 23));
      EXPECT_GE(inside.width, 1U);
      EXPECT_GE(inside.height, 1U);
    }
  }
}

TEST(Geometry, AbsurdSidesAreCutAndDoNotFit) {
  const ImageExtent line{1, 0x7FFFFFFF};
  const ImageExtent resized = Resized(65535, 65535, Fit::kShort, line);
  EXPECT_EQ(resized, (ImageExtent{65535, UINT32_MAX}));
  ViewSpec spec;
  spec.size = ResizeTarget{.width = 65535, .height = 65535, .fit = Fit::kShort};
  EXPECT_FALSE(FitsView(GeometryOf(spec, line)));
}

TEST(Geometry, StepsFollowOneAnother) {
  ViewSpec spec;
  spec.size = ResizeTarget{.width = 256, .height = 256, .fit = Fit::kShort};
  spec.crop = 224;
  const ViewGeometry geometry = GeometryOf(spec, {500, 375});
  EXPECT_EQ(geometry.decoded, (ImageExtent{500, 375}));
  EXPECT_EQ(geometry.resized, (ImageExtent{341, 256}));
  EXPECT_EQ(geometry.cropped, (ImageExtent{224, 224}));
  const ViewGeometry plain = GeometryOf(ViewSpec(), {500, 375});
  EXPECT_EQ(plain.resized, plain.decoded);
  EXPECT_EQ(plain.cropped, plain.decoded);
}

TEST(Geometry, WhatIsResizedHasBoundedSides) {
  ViewSpec spec;
  EXPECT_TRUE(FitsView(GeometryOf(spec, {10, 17'000'000})));
  spec.size = ResizeTarget{.width = 10, .height = 10, .fit = Fit::kSquash};
  EXPECT_FALSE(FitsView(GeometryOf(spec, {10, 17'000'000})));
  EXPECT_TRUE(FitsView(GeometryOf(spec, {10, 16'777'216})));
}

TEST(Geometry, EveryStepIsBounded) {
  ViewSpec spec;
  EXPECT_TRUE(FitsView(GeometryOf(spec, {10, 17'895'697})));
  EXPECT_FALSE(FitsView(GeometryOf(spec, {10, 17'895'698})));
  spec.size = ResizeTarget{.width = 100, .height = 100, .fit = Fit::kShort};
  EXPECT_FALSE(FitsView(GeometryOf(spec, {1, 20'000}))) << "100 x 2,000,000";
  spec.crop = 100;
  EXPECT_FALSE(FitsView(GeometryOf(spec, {1, 20'000}))) << "the crop does not help: it comes after the resize";
}

}  // namespace
}  // namespace augur
