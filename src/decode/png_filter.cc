// SPDX-License-Identifier: Apache-2.0
// Compiled once for each set of vector instructions; the best that the processor has is chosen at run time.
//
// Three of the four filters need the pixel to the left before the next one, so only the bytes of one pixel are worked
// on at a time: in a word for the sum and the average, in a vector of 16-bit numbers for Paeth's.
#include "decode/png_filter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

// As in seed_search/seed_block.cc: vectors of a size unknown to the compiler are of no use here.
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/png_filter.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace augur {
namespace HWY_NAMESPACE {
namespace {

uint8_t Nearest(int left, int up, int corner) {
  const int from_left = std::abs(up - corner);
  const int from_up = std::abs(left - corner);
  const int from_corner = std::abs(left + up - 2 * corner);
  if (from_left <= from_up && from_left <= from_corner) return static_cast<uint8_t>(left);
  return static_cast<uint8_t>(from_up <= from_corner ? up : corner);
}

void PlainPaeth(const uint8_t* previous, size_t row_bytes, size_t pixel_bytes, uint8_t* row) {
  for (size_t i = 0; i < std::min(pixel_bytes, row_bytes); ++i) row[i] = static_cast<uint8_t>(row[i] + previous[i]);
  for (size_t i = pixel_bytes; i < row_bytes; ++i) {
    row[i] = static_cast<uint8_t>(row[i] + Nearest(row[i - pixel_bytes], previous[i], previous[i - pixel_bytes]));
  }
}

#if HWY_TARGET == HWY_SCALAR  // a processor without any vectors that Highway knows

void UndoUp(const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  for (size_t i = 0; i < row_bytes; ++i) row[i] = static_cast<uint8_t>(row[i] + previous[i]);
}

template <size_t kPixelBytes>
void UndoPaeth(const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  PlainPaeth(previous, row_bytes, kPixelBytes, row);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using Block = hn::FixedTag<uint8_t, kPngRowSlack>;
using Pixel = hn::FixedTag<uint8_t, 4>;
using Wide = hn::FixedTag<int16_t, 4>;

// Past the row's end into its slack, too.
void UndoUp(const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  const Block block;
  for (size_t i = 0; i < row_bytes; i += kPngRowSlack) {
    hn::StoreU(hn::Add(hn::LoadU(block, row + i), hn::LoadU(block, previous + i)), block, row + i);
  }
}

// Of 3 or 4 bytes a pixel.
template <size_t kPixelBytes>
void UndoPaeth(const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  const Pixel bytes;
  const Wide wide;
  auto left = hn::Zero(wide);
  auto corner = hn::Zero(wide);
  for (size_t i = 0; i < row_bytes; i += kPixelBytes) {
    const auto up = hn::PromoteTo(wide, hn::LoadU(bytes, previous + i));
    const auto over_left = hn::Sub(up, corner);
    const auto over_up = hn::Sub(left, corner);
    const auto from_left = hn::Abs(over_left);
    const auto from_up = hn::Abs(over_up);
    const auto from_corner = hn::Abs(hn::Add(over_left, over_up));
    const auto least = hn::Min(from_corner, hn::Min(from_left, from_up));
    const auto nearest =
        hn::IfThenElse(hn::Eq(least, from_left), left, hn::IfThenElse(hn::Eq(least, from_up), up, corner));
    const auto sum = hn::Add(hn::LoadU(bytes, row + i), hn::DemoteTo(bytes, nearest));
    alignas(4) uint8_t pixel[4];
    hn::Store(sum, bytes, pixel);
    std::memcpy(row + i, pixel, kPixelBytes);
    left = hn::PromoteTo(wide, sum);
    corner = up;
  }
}

#endif

// The four bytes of a word are added, each modulo 256.
uint32_t AddBytes(uint32_t a, uint32_t b) {
  constexpr uint32_t kLow = 0x7F7F7F7F;
  return ((a & kLow) + (b & kLow)) ^ ((a ^ b) & ~kLow);
}

// Half of their sums, cut off.
uint32_t HalveSums(uint32_t a, uint32_t b) { return (a & b) + (((a ^ b) >> 1) & 0x7F7F7F7F); }

uint32_t WordAt(const uint8_t* at) {
  uint32_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Of 3 or 4 bytes a pixel.
template <size_t kPixelBytes>
void UndoSub(size_t row_bytes, uint8_t* row) {
  uint32_t left = 0;
  for (size_t i = 0; i < row_bytes; i += kPixelBytes) {
    left = AddBytes(left, WordAt(row + i));
    std::memcpy(row + i, &left, kPixelBytes);
  }
}

template <size_t kPixelBytes>
void UndoAverage(const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  uint32_t left = 0;
  for (size_t i = 0; i < row_bytes; i += kPixelBytes) {
    left = AddBytes(HalveSums(left, WordAt(previous + i)), WordAt(row + i));
    std::memcpy(row + i, &left, kPixelBytes);
  }
}

void PlainSub(size_t row_bytes, size_t pixel_bytes, uint8_t* row) {
  for (size_t i = pixel_bytes; i < row_bytes; ++i) row[i] = static_cast<uint8_t>(row[i] + row[i - pixel_bytes]);
}

void PlainAverage(const uint8_t* previous, size_t row_bytes, size_t pixel_bytes, uint8_t* row) {
  for (size_t i = 0; i < std::min(pixel_bytes, row_bytes); ++i) row[i] = static_cast<uint8_t>(row[i] + previous[i] / 2);
  for (size_t i = pixel_bytes; i < row_bytes; ++i) {
    row[i] = static_cast<uint8_t>(row[i] + (row[i - pixel_bytes] + previous[i]) / 2);
  }
}

bool Undo(uint8_t filter, size_t pixel_bytes, const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  switch (filter) {
    case 0: return true;
    case 1:
      if (pixel_bytes == 3) return UndoSub<3>(row_bytes, row), true;
      if (pixel_bytes == 4) return UndoSub<4>(row_bytes, row), true;
      return PlainSub(row_bytes, pixel_bytes, row), true;
    case 2: return UndoUp(previous, row_bytes, row), true;
    case 3:
      if (pixel_bytes == 3) return UndoAverage<3>(previous, row_bytes, row), true;
      if (pixel_bytes == 4) return UndoAverage<4>(previous, row_bytes, row), true;
      return PlainAverage(previous, row_bytes, pixel_bytes, row), true;
    case 4:
      if (pixel_bytes == 3) return UndoPaeth<3>(previous, row_bytes, row), true;
      if (pixel_bytes == 4) return UndoPaeth<4>(previous, row_bytes, row), true;
      return PlainPaeth(previous, row_bytes, pixel_bytes, row), true;
    default: return false;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace augur
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace augur {

HWY_EXPORT(Undo);

bool UndoPngFilter(uint8_t filter, size_t pixel_bytes, const uint8_t* previous, size_t row_bytes, uint8_t* row) {
  return HWY_DYNAMIC_DISPATCH(Undo)(filter, pixel_bytes, previous, row_bytes, row);
}

}  // namespace augur
#endif
