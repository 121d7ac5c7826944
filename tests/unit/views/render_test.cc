// SPDX-License-Identifier: Apache-2.0
// What real readers make of rendered files is in tests/frameworks/test_containers.py.
#include "views/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/image_decoder.h"
#include "decode/png_writer.h"
#include "unit/decode_writers/random_image.h"
#include "views/geometry.h"

namespace augur {
namespace {

using Bytes = std::vector<std::byte>;

ViewSpec Spec(std::string_view text) {
  const Result<ViewSpec> spec = ParseViewSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status().text();
  return *spec;
}

ImageInfo Jpeg(uint32_t width, uint32_t height, uint8_t channels = 3) {
  return {.width = width, .height = height, .kind = ImageKind::kJpeg, .channels = channels, .bit_depth = 8};
}

ImageInfo Png(uint32_t width, uint32_t height) {
  return {.width = width, .height = height, .kind = ImageKind::kPng, .channels = 3, .bit_depth = 8};
}

Result<Bytes> Rendered(const ViewSpec& spec, const ImageInfo& info, Image image, const Bytes& exif = {}) {
  Resizer resizer;
  Bytes out(RenderedSize(spec, info));
  AUGUR_TRY(Render(spec, info, std::move(image), exif, &resizer, out));
  return out;
}

TEST(Appearance, OfNpyViews) {
  const ViewSpec spec = Spec("npy");
  EXPECT_EQ(AppearanceOf(spec, {}), Appearance::kAbsent);
  EXPECT_EQ(AppearanceOf(spec, Jpeg(2, 2)), Appearance::kNpy);
  EXPECT_EQ(AppearanceOf(spec, Png(2, 2)), Appearance::kNpy);
  EXPECT_EQ(AppearanceOf(spec, Png(20'000, 20'000)), Appearance::kAbsent);
}

TEST(Appearance, OfPixelViews) {
  EXPECT_EQ(AppearanceOf(Spec("pixels"), {}), Appearance::kOriginal);
  EXPECT_EQ(AppearanceOf(Spec("pixels"), Jpeg(2, 2)), Appearance::kPng);
  EXPECT_EQ(AppearanceOf(Spec("pixels+as=ppm"), Jpeg(2, 2)), Appearance::kPpm);
  EXPECT_EQ(AppearanceOf(Spec("pixels+as=bmp"), Jpeg(2, 2)), Appearance::kBmp);
  EXPECT_EQ(AppearanceOf(Spec("pixels"), Png(2, 2)), Appearance::kOriginal) << "a mask must not change";
  EXPECT_EQ(AppearanceOf(Spec("pixels+all"), Png(2, 2)), Appearance::kPng);
  EXPECT_EQ(AppearanceOf(Spec("pixels+all+as=bmp"), Png(2, 2)), Appearance::kBmp);
}

TEST(Appearance, ImagesThatAreTooLargeStayThemselves) {
  EXPECT_EQ(AppearanceOf(Spec("pixels"), Jpeg(20'000, 20'000)), Appearance::kOriginal);
  EXPECT_EQ(AppearanceOf(Spec("pixels+size=1000"), Jpeg(1, 65'535)), Appearance::kOriginal)
      << "it would be 65 million high";
  EXPECT_EQ(AppearanceOf(Spec("pixels+as=bmp"), Jpeg(1, 65'535)), Appearance::kBmp);
}

TEST(Appearance, ATurnedImageIsAPngAlways) {
  for (uint8_t orientation = 0; orientation <= 8; ++orientation) {
    ImageInfo info = Jpeg(2, 2);
    info.orientation = orientation;
    for (const char* text : {"pixels+as=ppm", "pixels+as=bmp"}) {
      EXPECT_EQ(AppearanceOf(Spec(text), info) == Appearance::kPng, orientation > 1) << int{orientation};
    }
    EXPECT_EQ(AppearanceOf(Spec("npy"), info), Appearance::kNpy);
  }
}

TEST(Appearance, Endings) {
  EXPECT_EQ(EndingOf(Appearance::kNpy), ".npy");
  EXPECT_EQ(EndingOf(Appearance::kPng), ".png");
  EXPECT_EQ(EndingOf(Appearance::kPpm), ".ppm");
  EXPECT_EQ(EndingOf(Appearance::kBmp), ".bmp");
}

TEST(Render, GreyStaysGreyInPixelsAndIsColourInNpy) {
  const ImageInfo grey = Jpeg(4, 4, 1);
  EXPECT_EQ(ChannelsOf(Spec("pixels"), grey), 1U);
  EXPECT_EQ(ChannelsOf(Spec("npy"), grey), 3U);
  EXPECT_EQ(ChannelsOf(Spec("pixels"), Jpeg(4, 4, 4)), 3U) << "CMYK";
  EXPECT_EQ(RenderedSize(Spec("npy"), grey), 128U + 48U);
  EXPECT_EQ(RenderedSize(Spec("pixels"), grey), PngBytes(4, 4, 1, 0));
}

TEST(Render, SizeIsThatOfTheResult) {
  const ImageInfo info = Jpeg(500, 375);
  EXPECT_EQ(RenderedSize(Spec("npy"), info), 128U + 500 * 375 * 3);
  EXPECT_EQ(RenderedSize(Spec("npy+size=256"), info), 128U + 341 * 256 * 3);
  EXPECT_EQ(RenderedSize(Spec("npy+size=256+crop=224"), info), 128U + 224 * 224 * 3);
  EXPECT_EQ(RenderedSize(Spec("npy+size=256+crop=224+dtype=f32+layout=chw"), info), 128U + 224 * 224 * 3 * 4);
  EXPECT_EQ(RenderedSize(Spec("pixels+as=ppm+size=640x480"), info), 15U + 640 * 480 * 3);
}

TEST(Render, ExifGoesIntoPngsOnly) {
  ImageInfo info = Jpeg(3, 2);
  info.exif_bytes = 10;
  const Bytes exif(10, std::byte{'e'});
  EXPECT_EQ(RenderedSize(Spec("pixels"), info), RenderedSize(Spec("pixels"), Jpeg(3, 2)) + 12 + 10);
  EXPECT_EQ(RenderedSize(Spec("pixels+as=ppm"), info), RenderedSize(Spec("pixels+as=ppm"), Jpeg(3, 2)));
  const Result<Bytes> file = Rendered(Spec("pixels"), info, RandomImage(3, 2, 3), exif);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(file->data()), file->size()),
              testing::HasSubstr("eXIfeeeeeeeeee"));
  EXPECT_TRUE(Rendered(Spec("pixels+as=bmp"), info, RandomImage(3, 2, 3), exif).ok());
  EXPECT_TRUE(Rendered(Spec("npy"), info, RandomImage(3, 2, 3)).ok());
}

TEST(Render, CropsWhatItResized) {
  const ImageInfo info = Jpeg(60, 40);
  const Image image = RandomImage(60, 40, 3);
  Image copy = RandomImage(60, 40, 3);
  const Result<Bytes> file = Rendered(Spec("npy+size=20+crop=10"), info, std::move(copy));
  ASSERT_TRUE(file.ok()) << file.status().text();
  Resizer resizer;
  const Result<Image> resized = resizer.Resize(image, {.width = 30, .height = 20});
  ASSERT_TRUE(resized.ok());
  for (uint32_t y = 0; y < 10; ++y) {
    EXPECT_EQ(
        std::memcmp(file->data() + 128 + y * size_t{30}, resized->pixels.get() + ((y + 5) * size_t{30} + 10) * 3, 30),
        0);
  }
}

TEST(Render, SaysHowItWantsToBeDecoded) {
  const ImageInfo colour = Jpeg(640, 480);
  EXPECT_FALSE(DecodeOptionsOf(Spec("pixels"), colour).keep_grey);
  EXPECT_TRUE(DecodeOptionsOf(Spec("pixels"), Jpeg(640, 480, 1)).keep_grey);
  EXPECT_FALSE(DecodeOptionsOf(Spec("npy"), Jpeg(640, 480, 1)).keep_grey);
  EXPECT_FALSE(DecodeOptionsOf(Spec("npy"), colour).tolerant);
  EXPECT_TRUE(DecodeOptionsOf(Spec("npy+tolerant"), colour).tolerant);
  EXPECT_EQ(DecodeOptionsOf(Spec("npy+size=100"), colour).scale_denominator, 1U);
  EXPECT_EQ(DecodeOptionsOf(Spec("npy+size=100+fast"), colour).scale_denominator, 4U) << "480 / 4 = 120";
  EXPECT_EQ(DecodeOptionsOf(Spec("npy+size=481+fast"), colour).scale_denominator, 1U);
}

TEST(Render, MemoryIsThatOfTheStepsTaken) {
  EXPECT_EQ(RenderMemory(Spec("npy"), Jpeg(60, 40)), 0U);
  const uint64_t resize = Resizer::MemoryBytes(60, 40, 3, {.width = 30, .height = 20});
  EXPECT_GE(resize, 30U * 20 * 3);
  EXPECT_EQ(RenderMemory(Spec("npy+size=20"), Jpeg(60, 40)), resize);
  EXPECT_EQ(RenderMemory(Spec("npy+size=20+crop=10"), Jpeg(60, 40)), resize + 300);
  EXPECT_EQ(RenderMemory(Spec("pixels+crop=10"), Jpeg(60, 40, 1)), 100U);
}

// What is decoded into its own file is the same as what is written from elsewhere; it counts once.
TEST(Render, AFileMayBeDecodedIntoItself) {
  for (const uint32_t channels : {1U, 3U}) {
    const Image image = RandomImage(301, 233, channels);  // 70,000 pixels and more: several deflate blocks
    ImageInfo info = Png(301, 233);
    info.channels = static_cast<uint8_t>(channels);
    Bytes source(PngBytes(image.width, image.height, channels, 0));
    WritePng(image, {}, source);
    for (const char* text : {"npy", "npy+layout=chw", "npy+dtype=f32", "npy+crop=100", "npy+size=100", "pixels+all",
                             "pixels+all+as=ppm", "pixels+all+as=bmp", "pixels+all+size=100"}) {
      const ViewSpec spec = Spec(text);
      const DecodeOptions options = DecodeOptionsOf(spec, info);
      const Result<Bytes> wanted = Rendered(spec, info, *DecodeImage(source, options));
      ASSERT_TRUE(wanted.ok()) << text;
      Resizer resizer;
      Bytes out(wanted->size(), std::byte{0xEE});
      ASSERT_TRUE(RenderFile(spec, info, source, &resizer, out).ok()) << text;
      EXPECT_EQ(out, *wanted) << text;

      const DecodeNeeds needs = *MeasureImage(source, options);
      const std::string_view name(text);
      const bool in_place = name == "npy" || name == "pixels+all" || name == "pixels+all+as=ppm";
      const uint64_t pixels = uint64_t{301} * 233 * needs.channels;
      EXPECT_EQ(RenderFileMemory(spec, info, needs),
                needs.memory_bytes + RenderMemory(spec, info) - (in_place ? pixels : 0))
          << text;
    }
  }
}

TEST(Render, PixelsMayLieAtTheEndOfTheFile) {
  ImageInfo info = Jpeg(301, 233);
  info.exif_bytes = 50;
  const Bytes exif(info.exif_bytes, std::byte{'e'});
  for (const char* text : {"npy", "pixels", "pixels+as=ppm"}) {
    const ViewSpec spec = Spec(text);
    const Bytes wanted = *Rendered(spec, info, RandomImage(301, 233, 3), exif);
    Bytes out(wanted.size());
    const Image image = RandomImage(301, 233, 3);
    const auto room = std::span(out).last(image.bytes());
    Image within = MakeImage(301, 233, 3, {reinterpret_cast<uint8_t*>(room.data()), room.size()});
    std::memcpy(within.pixels.get(), image.pixels.get(), image.bytes());
    Resizer resizer;
    ASSERT_TRUE(Render(spec, info, std::move(within), exif, &resizer, out).ok());
    EXPECT_EQ(out, wanted) << text;
  }
}

TEST(Render, ABrokenFileIsAnError) {
  const ImageInfo info = Jpeg(3, 2);
  Resizer resizer;
  Bytes out(RenderedSize(Spec("pixels"), info));
  EXPECT_EQ(RenderFile(Spec("pixels"), info, Bytes(100), &resizer, out).code(), Code::kCorrupt);
}

TEST(Render, AScaledImageIsForFastViewsOnly) {
  const ImageInfo info = Jpeg(64, 32);
  EXPECT_TRUE(Rendered(Spec("npy+size=8+fast"), info, RandomImage(32, 16, 3)).ok());
  EXPECT_EQ(Rendered(Spec("npy+size=8"), info, RandomImage(32, 16, 3)).status().code(), Code::kCorrupt);
}

TEST(Render, WhatTheStoreDidNotAnnounceIsAnError) {
  const ImageInfo info = Jpeg(3, 2);
  const struct {
    uint32_t width, height, channels;
  } others[] = {{2, 3, 3}, {3, 2, 1}, {4, 2, 3}};
  for (const auto& other : others) {
    const Result<Bytes> file = Rendered(Spec("pixels"), info, RandomImage(other.width, other.height, other.channels));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.status().code(), Code::kCorrupt);
    EXPECT_THAT(file.status().text(),
                testing::HasSubstr("but the store has 3x2 pixels of 3 channels: pack the file again"));
  }
  const Result<Bytes> file = Rendered(Spec("pixels"), info, RandomImage(3, 2, 3), Bytes(7));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().text(), testing::HasSubstr("EXIF of 7 bytes, but the store has 0"));
}

}  // namespace
}  // namespace augur
