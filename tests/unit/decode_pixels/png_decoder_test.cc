// SPDX-License-Identifier: Apache-2.0
// That the pixels are Pillow's is tests/frameworks/test_pixels_pillow.py; here is what becomes of files that are no
// good, and of bounds.
#include "decode/png_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "decode/png_chunks.h"
#include "decode/png_filter.h"
#include "decode/png_header.h"
#include "unit/decode_pixels/files.h"

namespace augur {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

FileBytes ColorPng(uint32_t width, uint32_t height) {
  return MakePngFile(width, height, SPNG_COLOR_TYPE_TRUECOLOR, 8, MakeSamples(width, height, 3));
}

// A chunk of `type`, without a checksum that fits.
FileBytes LooseChunk(std::string_view type, size_t bytes) {
  FileBytes chunk(12 + bytes);
  for (size_t i = 0; i < 4; ++i) {
    chunk[i] = std::byte(bytes >> (24 - 8 * i) & 0xFF);
    chunk[4 + i] = std::byte(type[i]);
  }
  return chunk;
}

TEST(PngDecoder, GivesBackWhatWasWritten) {
  const auto image = DecodePng(ColorPng(33, 9));
  ASSERT_TRUE(image.ok()) << image.status().text();
  EXPECT_EQ(PixelsOf(*image), MakeSamples(33, 9, 3));
}

TEST(PngDecoder, CutsSixteenBitGreyAndHalvesSixteenBitColor) {
  const auto grey =
      DecodePng(MakePngFile(3, 1, SPNG_COLOR_TYPE_GRAYSCALE, 16, {0, 7, 0, 255, 1, 0}), {.keep_grey = true});
  ASSERT_TRUE(grey.ok());
  EXPECT_THAT(PixelsOf(*grey), ElementsAre(7, 255, 255));
  const auto color = DecodePng(MakePngFile(1, 1, SPNG_COLOR_TYPE_TRUECOLOR, 16, {0, 255, 1, 0, 200, 1}));
  ASSERT_TRUE(color.ok());
  EXPECT_THAT(PixelsOf(*color), ElementsAre(0, 1, 200));
}

TEST(PngDecoder, DropsAlpha) {
  const auto color = DecodePng(MakePngFile(2, 1, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 8, {1, 2, 3, 0, 4, 5, 6, 255}));
  ASSERT_TRUE(color.ok());
  EXPECT_THAT(PixelsOf(*color), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto grey =
      DecodePng(MakePngFile(2, 1, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 8, {9, 0, 8, 255}), {.keep_grey = true});
  ASSERT_TRUE(grey.ok());
  EXPECT_THAT(PixelsOf(*grey), ElementsAre(9, 8));
}

TEST(PngDecoder, LooksUpPalettes) {
  spng_plte palette = {};
  palette.n_entries = 2;
  palette.entries[0] = {.red = 10, .green = 20, .blue = 30, .alpha = 0};
  palette.entries[1] = {.red = 40, .green = 50, .blue = 60, .alpha = 0};
  const auto image = DecodePng(MakePngFile(3, 1, SPNG_COLOR_TYPE_INDEXED, 1, {0b10100000}, &palette));
  ASSERT_TRUE(image.ok()) << image.status().text();
  EXPECT_THAT(PixelsOf(*image), ElementsAre(40, 50, 60, 10, 20, 30, 40, 50, 60));
}

TEST(PngDecoder, SaysTruncatedWhereverTheFileIsCut) {
  const FileBytes file = ColorPng(64, 64);
  const size_t pixels = FindChunk(file, "IDAT");
  for (size_t bytes = 8; bytes < file.size() - 40; bytes += 13) {
    const auto image = DecodePng(std::span(file).first(bytes));
    ASSERT_FALSE(image.ok()) << bytes;
    EXPECT_EQ(image.status().code(), Code::kCorrupt);
    EXPECT_THAT(image.status().text(), HasSubstr("truncated")) << bytes;
    EXPECT_EQ(DecodePng(std::span(file).first(bytes), {.tolerant = true}).ok(), bytes >= pixels + 8) << bytes;
  }
}

TEST(PngDecoder, TolerantKeepsTheRowsThatThereAre) {
  const FileBytes file = ColorPng(64, 256);
  const auto image = DecodePng(std::span(file).first(file.size() / 2), {.tolerant = true});
  ASSERT_TRUE(image.ok());
  const std::vector<uint8_t> whole = MakeSamples(64, 256, 3);
  EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + ptrdiff_t{64} * 3 * 64, image->pixels.get()));
  EXPECT_THAT(PixelsOf(*image).back(), 0);
}

TEST(PngDecoder, ChecksHeadersAndNotPixels) {
  FileBytes file = ColorPng(32, 32);
  file[file.size() - 13] ^= std::byte{1};  // the checksum of the pixels, in front of IEND
  EXPECT_TRUE(DecodePng(file).ok());
  file[8 + 8 + 13] ^= std::byte{1};  // that of IHDR
  const auto image = DecodePng(file);
  EXPECT_EQ(image.status().code(), Code::kCorrupt);
  EXPECT_THAT(image.status().text(), HasSubstr("IHDR"));
}

TEST(PngDecoder, AnAncillaryChunkMayBeBrokenForTheTolerantOnly) {
  FileBytes file = ColorPng(32, 32);
  const FileBytes text = LooseChunk("tEXt", 100);
  file.insert(file.begin() + static_cast<ptrdiff_t>(FindChunk(file, "IDAT")), text.begin(), text.end());
  EXPECT_THAT(DecodePng(file).status().text(), HasSubstr("tEXt"));
  EXPECT_TRUE(DecodePng(file, {.tolerant = true}).ok());
}

// The pixels of `whole` in chunks of one byte, each by `put(file, byte)`, up to where IEND would be.
template <typename Put>
FileBytes InBytes(const FileBytes& whole, Put put) {
  const size_t pixels = FindChunk(whole, "IDAT");
  size_t bytes = 0;
  for (size_t i = 0; i < 4; ++i) bytes = bytes << 8 | std::to_integer<size_t>(whole[pixels + i]);
  FileBytes file(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(pixels));
  for (size_t i = 0; i < bytes; ++i) put(file, whole[pixels + 8 + i]);
  return file;
}

void Put(FileBytes& file, std::string_view type, std::span<const std::byte> body = {}) {
  FileBytes chunk = LooseChunk(type, body.size());
  std::ranges::copy(body, chunk.begin() + 8);
  file.insert(file.end(), chunk.begin(), chunk.end());
}

// With hundreds of thousands of empty ones between them.
TEST(PngDecoder, AnyNumberOfChunksTakesNoMemory) {
  FileBytes file = InBytes(ColorPng(64, 64), [](FileBytes& to, std::byte byte) {
    Put(to, "IDAT", {&byte, 1});
    Put(to, "IDAT");
  });
  for (int i = 0; i < 300'000; ++i) Put(file, "IDAT");
  const auto heap = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const size_t before = heap();
  const auto chunks = PngChunks::Find(file, false);
  ASSERT_TRUE(chunks.ok()) << chunks.status().text();
  EXPECT_LT(heap(), before + 4096);
  const auto image = DecodePng(file);
  ASSERT_TRUE(image.ok()) << image.status().text();
  EXPECT_EQ(PixelsOf(*image), MakeSamples(64, 64, 3));
}

// As Pillow's load_read; before the pixels it is a chunk like others, and a critical one, so that its checksum counts.
TEST(PngDecoder, ADdatAmongThePixelsIsOfThem) {
  int bytes = 0;
  const FileBytes file = InBytes(ColorPng(64, 64), [&](FileBytes& to, std::byte byte) {
    Put(to, bytes++ % 3 == 1 ? "DDAT" : "IDAT", {&byte, 1});
  });
  const auto image = DecodePng(file);
  ASSERT_TRUE(image.ok()) << image.status().text();
  EXPECT_EQ(PixelsOf(*image), MakeSamples(64, 64, 3));
  // Cut in a DDAT, and behind one.
  for (const size_t left_out : {1U, 5U, 14U, 18U}) {
    const auto cut = DecodePng(std::span(file).first(file.size() - file.size() / 2 - left_out), {.tolerant = true});
    ASSERT_TRUE(cut.ok()) << cut.status().text();
    EXPECT_EQ(cut->pixels[0], MakeSamples(64, 64, 3)[0]);
  }
  FileBytes before = ColorPng(32, 32);
  const FileBytes other = LooseChunk("DDAT", 3);
  before.insert(before.begin() + static_cast<ptrdiff_t>(FindChunk(before, "IDAT")), other.begin(), other.end());
  EXPECT_THAT(DecodePng(before).status().text(), HasSubstr("DDAT"));
}

// The file with chunk `type` at `at`, with a checksum that fits.
FileBytes With(FileBytes file, size_t at, std::string_view type, std::span<const std::byte> body) {
  FileBytes chunk = LooseChunk(type, body.size());
  std::ranges::copy(body, chunk.begin() + 8);
  const uint32_t crc = libdeflate_crc32(0, chunk.data() + 4, 4 + body.size());
  for (size_t i = 0; i < 4; ++i) chunk[8 + body.size() + i] = std::byte(crc >> (24 - 8 * i) & 0xFF);
  file.insert(file.begin() + static_cast<ptrdiff_t>(at), chunk.begin(), chunk.end());
  return file;
}

// The file with its pixels' stream in IDAT chunks of these sizes, the last one of the rest.
FileBytes Split(const FileBytes& file, std::vector<size_t> sizes) {
  const size_t at = FindChunk(file, "IDAT");
  const size_t end = FindChunk(file, "IEND");
  const std::span<const std::byte> stream(file.data() + at + 8, end - at - 12);
  FileBytes split(file.begin(), file.begin() + static_cast<ptrdiff_t>(at));
  size_t taken = 0;
  sizes.push_back(stream.size());
  for (const size_t size : sizes) {
    const auto body = stream.subspan(taken).first(std::min(size, stream.size() - taken));
    split = With(split, split.size(), "IDAT", body);
    taken += body.size();
  }
  return With(split, split.size(), "IEND", {});
}

TEST(PngDecoder, TheAdler32Counts) {
  const FileBytes file = ColorPng(64, 64);
  const size_t last = FindChunk(file, "IEND") - 5;  // of the stream
  for (size_t byte = 0; byte < 4; ++byte) {
    FileBytes broken = file;
    broken[last - byte] ^= std::byte{1};
    const auto image = DecodePng(broken);
    ASSERT_FALSE(image.ok()) << byte;
    EXPECT_EQ(image.status().code(), Code::kCorrupt);
    EXPECT_THAT(image.status().text(), HasSubstr("incorrect data check"));
    // All rows but the last, which came with it.
    const auto tolerant = DecodePng(broken, {.tolerant = true});
    ASSERT_TRUE(tolerant.ok());
    const std::vector<uint8_t> whole = MakeSamples(64, 64, 3);
    EXPECT_TRUE(std::equal(whole.begin(), whole.end() - 64 * 3, tolerant->pixels.get()));
    EXPECT_THAT(std::vector<uint8_t>(tolerant->span().last(64 * 3).begin(), tolerant->span().end()), Each(0));
  }
}

// Pillow does not look at more of the stream than the piece in which the last row ends.
TEST(PngDecoder, AnAdler32InAPieceOfItsOwnIsNotLookedAt) {
  FileBytes file = ColorPng(64, 64);
  file[FindChunk(file, "IEND") - 5] ^= std::byte{1};
  const size_t bytes = FindChunk(file, "IEND") - FindChunk(file, "IDAT") - 12;
  for (const size_t behind : {1U, 4U}) {
    EXPECT_TRUE(DecodePng(Split(file, {bytes - behind})).ok()) << behind;
    EXPECT_TRUE(DecodePng(Split(file, {10, 0, bytes - 10 - behind})).ok()) << behind;
  }
  EXPECT_FALSE(DecodePng(Split(file, {bytes - 30})).ok());
}

TEST(PngDecoder, APaletteOfColorImagesMayHaveAnyLength) {
  const FileBytes file = ColorPng(32, 32);
  const std::vector<std::byte> palette(1000);
  for (const size_t bytes : {0U, 1U, 4U, 768U, 770U, 1000U}) {
    for (const bool tolerant : {false, true}) {
      const auto image = DecodePng(With(file, FindChunk(file, "IDAT"), "PLTE", std::span(palette).first(bytes)),
                                   {.tolerant = tolerant});
      ASSERT_TRUE(image.ok()) << image.status().text();
      EXPECT_EQ(PixelsOf(*image), MakeSamples(32, 32, 3)) << bytes;
    }
  }
}

TEST(PngDecoder, AnAnimationsFirstFrameIsTheWholeImage) {
  const FileBytes file = ColorPng(32, 16);
  const size_t at = FindChunk(file, "IDAT");
  std::vector<std::byte> control(26);
  control[7] = std::byte{32};
  control[11] = std::byte{16};
  EXPECT_TRUE(DecodePng(With(file, at, "fcTL", control)).ok());
  for (const size_t byte : {7U, 11U, 15U, 19U}) {
    auto smaller = control;
    smaller[byte] = std::byte{1};
    EXPECT_THAT(DecodePng(With(file, at, "fcTL", smaller)).status().text(), HasSubstr("first frame")) << byte;
  }
  EXPECT_THAT(DecodePng(With(file, at, "fdAT", control)).status().text(), HasSubstr("fdAT"));
  EXPECT_TRUE(DecodePng(With(file, FindChunk(file, "IEND"), "fdAT", control)).ok());
}

TEST(PngDecoder, TheLastHeaderCounts) {
  const FileBytes file = ColorPng(32, 16);
  const FileBytes other = MakePngFile(7, 7, SPNG_COLOR_TYPE_GRAYSCALE, 8, MakeSamples(7, 7, 1));
  const auto body = std::span(other).subspan(16, 13);
  EXPECT_EQ(DecodePng(With(file, 8, "IHDR", body))->width, 32U);
  // The same by the probe, by which a store records the size.
  EXPECT_EQ(ProbePng(With(file, 8, "IHDR", body)).width, 32U);
  EXPECT_EQ(ProbePng(With(file, FindChunk(file, "IDAT"), "IHDR", body)).width, 7U);
  auto longer = std::vector<std::byte>(body.begin(), body.end());
  longer.resize(20);
  EXPECT_EQ(ProbePng(With(file, FindChunk(file, "IDAT"), "IHDR", longer)).width, 7U);
  EXPECT_EQ(ProbePng(With(file, FindChunk(file, "IDAT"), "IHDR", body.first(12))).kind, ImageKind::kNone);
}

// The plain rule of the specification, a byte at a time.
std::vector<uint8_t> Unfilter(uint8_t filter, size_t pixel_bytes, std::span<const uint8_t> above,
                              std::vector<uint8_t> row) {
  for (size_t i = 0; i < row.size(); ++i) {
    const int a = i < pixel_bytes ? 0 : row[i - pixel_bytes];
    const int b = above[i];
    const int c = i < pixel_bytes ? 0 : above[i - pixel_bytes];
    const int p = a + b - c;
    const int pa = std::abs(p - a);
    const int pb = std::abs(p - b);
    const int pc = std::abs(p - c);
    const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    const int add[] = {0, a, b, (a + b) / 2, paeth};
    row[i] = static_cast<uint8_t>(row[i] + add[filter]);
  }
  return row;
}

TEST(PngFilter, IsThatOfTheSpecificationForEveryPixelSize) {
  std::mt19937 random(7);
  for (const size_t pixel_bytes : {1U, 2U, 3U, 4U, 6U, 8U}) {
    for (size_t pixels = 1; pixels < 40; ++pixels) {
      for (uint8_t filter = 0; filter < 5; ++filter) {
        std::vector<uint8_t> above(pixels * pixel_bytes + kPngRowSlack);
        std::vector<uint8_t> row(above.size());
        for (uint8_t& byte : above) byte = static_cast<uint8_t>(random());
        for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
        const size_t bytes = pixels * pixel_bytes;
        const auto expected = Unfilter(filter, pixel_bytes, above, {row.begin(), row.end() - kPngRowSlack});
        ASSERT_TRUE(UndoPngFilter(filter, pixel_bytes, above.data(), bytes, row.data()));
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), row.begin()))
            << int{filter} << " " << pixel_bytes << " " << pixels;
      }
    }
  }
  std::vector<uint8_t> row(1 + kPngRowSlack);
  EXPECT_FALSE(UndoPngFilter(5, 1, row.data(), 1, row.data()));
}

TEST(PngDecoder, NoPaletteIsAnError) {
  FileBytes file = MakePngFile(8, 8, SPNG_COLOR_TYPE_GRAYSCALE, 8, MakeSamples(8, 8, 1));
  const FileBytes empty;
  EXPECT_EQ(DecodePng(empty).status().code(), Code::kCorrupt);
  std::vector<std::byte> header(file.begin() + 16, file.begin() + 29);
  header[9] = std::byte{SPNG_COLOR_TYPE_INDEXED};
  const FileBytes indexed = With(file, FindChunk(file, "IDAT"), "IHDR", header);
  EXPECT_THAT(DecodePng(indexed).status().text(), HasSubstr("no palette"));
  const std::vector<std::byte> palette(771);
  EXPECT_TRUE(DecodePng(With(indexed, FindChunk(indexed, "IDAT"), "PLTE", std::span(palette).first(770))).ok());
  EXPECT_THAT(DecodePng(With(indexed, FindChunk(indexed, "IDAT"), "PLTE", palette)).status().text(),
              HasSubstr("256 entries"));
}

TEST(PngDecoder, RefusesWhatIsOverABound) {
  const FileBytes file = ColorPng(100, 100);
  EXPECT_EQ(DecodePng(file, {.pixels_max = 9'999}).status().code(), Code::kUnsupported);
  const uint64_t needed = MeasurePng(file)->memory_bytes;
  EXPECT_GE(needed, 30'000U);
  EXPECT_EQ(DecodePng(file, {.memory_bytes_max = needed - 1}).status().code(), Code::kUnsupported);
  EXPECT_TRUE(DecodePng(file, {.pixels_max = 10'000, .memory_bytes_max = needed}).ok());
}

}  // namespace
}  // namespace augur
