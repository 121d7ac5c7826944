// SPDX-License-Identifier: Apache-2.0
// Compiled once for each set of vector instructions; the best that the processor has is chosen at run time.
//
// Pillow sums pixel times weight in 32 bits, a weight having 22 bits and its sign. Processors multiply 16 bits best:
// two products of 16-bit pairs and their sum are one instruction. So a weight is two digits of 15 bits (AxisWeights),
// each with a sum of its own, put together at the end. All is modulo 2^32, in which the true sum fits.
#include "decode/resize_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

// As in seed_search/seed_block.cc: vectors of a size unknown to the compiler are of no use here.
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/resize_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace augur {
namespace HWY_NAMESPACE {
namespace {

// One pixel without vectors.
template <class PixelAt>
uint8_t PlainPixel(const PixelAt& pixel_at, size_t taps, const int16_t* low, const int16_t* high) {
  int64_t sum = 1 << (AxisWeights::kWeightBits - 1);
  for (size_t tap = 0; tap < taps; ++tap) {
    sum += pixel_at(tap) * (low[tap] + high[tap] * (int64_t{1} << AxisWeights::kDigitBits));
  }
  return static_cast<uint8_t>(std::clamp<int64_t>(sum >> AxisWeights::kWeightBits, 0, 255));
}

void PlainColumns(const uint8_t* const* in, const AxisWeights& weights, uint32_t place, size_t bytes, uint8_t* out) {
  for (size_t x = 0; x < bytes; ++x) {
    const auto pixel_at = [in, x](size_t tap) { return in[tap][x]; };
    out[x] = PlainPixel(pixel_at, weights.count(place), weights.low(place), weights.high(place));
  }
}

#if HWY_TARGET == HWY_SCALAR  // a processor without any vectors that Highway knows

size_t RowsAtOnce(uint32_t /*channels*/) { return 1; }

void Rows(const uint8_t* const* in, size_t rows, uint32_t channels, const AxisWeights& weights,
          std::vector<uint8_t>* /*scratch*/, uint8_t* const* out) {
  AUGUR_CHECK(rows == 1);
  for (uint32_t x = 0; x < weights.out_size(); ++x) {
    for (uint32_t channel = 0; channel < channels; ++channel) {
      const uint8_t* const first = in[0] + size_t{weights.begin(x)} * channels + channel;
      const auto pixel_at = [first, channels](size_t tap) { return first[tap * channels]; };
      out[0][size_t{x} * channels + channel] = PlainPixel(pixel_at, weights.count(x), weights.low(x), weights.high(x));
    }
  }
}

void Columns(const uint8_t** in, const AxisWeights& weights, uint32_t place, size_t bytes, uint8_t* out) {
  PlainColumns(in, weights, place, bytes, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<uint8_t, 64>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using Words = hn::Repartition<int32_t, Bytes>;
using HalfBytes = hn::Rebind<uint8_t, Shorts>;
using Block = hn::FixedTag<uint8_t, 16>;
using VBytes = hn::Vec<Bytes>;
using VShorts = hn::Vec<Shorts>;
using VWords = hn::Vec<Words>;

constexpr size_t kBlockBytes = 16;
constexpr size_t kBlocks = hn::MaxLanes(Bytes()) / kBlockBytes;
constexpr size_t kLanes = hn::MaxLanes(Words());

// Digits of a pair of weights, in every lane.
struct PairOfWeights {
  VShorts low;
  VShorts high;
};

HWY_INLINE VShorts EveryLane(const int16_t* pair) {
  int32_t both;
  std::memcpy(&both, pair, sizeof(both));
  return hn::BitCast(Shorts(), hn::Set(Words(), both));
}

HWY_INLINE PairOfWeights WeightsAt(const int16_t* low, const int16_t* high, size_t tap) {
  return {EveryLane(low + tap), EveryLane(high + tap)};
}

// A sum of weight times pixel in every lane.
struct Sum {
  VWords low;
  VWords low_more;  // what some processors put elsewhere (NEON)
  VWords high;
  VWords high_more;

  // Written out, since g++ compiles a constructor of its own for the plain processor.
  HWY_INLINE Sum() {
    low = hn::Zero(Words());
    low_more = hn::Zero(Words());
    high = hn::Zero(Words());
    high_more = hn::Zero(Words());
  }

  // `pixels` has a pair of pixels, 0 to 255, in every 32-bit lane.
  HWY_INLINE void Add(VShorts pixels, const PairOfWeights& weights) {
    low = hn::ReorderWidenMulAccumulate(Words(), pixels, weights.low, low, low_more);
    high = hn::ReorderWidenMulAccumulate(Words(), pixels, weights.high, high, high_more);
  }

  // The pixel: rounded, not yet clipped to 0..255.
  HWY_INLINE VWords Pixel() const {
    const Words d;
    const VWords sum = hn::Add(hn::RearrangeToOddPlusEven(low, low_more),
                               hn::ShiftLeft<AxisWeights::kDigitBits>(hn::RearrangeToOddPlusEven(high, high_more)));
    return hn::ShiftRight<AxisWeights::kWeightBits>(hn::Add(sum, hn::Set(d, 1 << (AxisWeights::kWeightBits - 1))));
  }
};

// Sixteen bytes of each of kBlocks rows, one row a block.
HWY_INLINE VBytes LoadBlocks(const uint8_t* const* rows, size_t offset) {
  const Block block;
#if HWY_MAX_BYTES >= 64
  if constexpr (kBlocks == 4) {
    const hn::FixedTag<uint8_t, 32> two;
    const auto first = hn::Combine(two, hn::LoadU(block, rows[1] + offset), hn::LoadU(block, rows[0] + offset));
    const auto second = hn::Combine(two, hn::LoadU(block, rows[3] + offset), hn::LoadU(block, rows[2] + offset));
    return hn::Combine(Bytes(), second, first);
  }
#elif HWY_MAX_BYTES >= 32
  return hn::Combine(Bytes(), hn::LoadU(block, rows[1] + offset), hn::LoadU(block, rows[0] + offset));
#else
  return hn::LoadU(block, rows[0] + offset);
#endif
}

// The same shuffle in every block; 0x80 gives a zero.
HWY_INLINE VShorts Pairs(VBytes bytes, VBytes shuffle) {
  return hn::BitCast(Shorts(), hn::TableLookupBytesOr0(bytes, shuffle));
}

// Four pixels of the same row and channel as the four bytes of a lane, clipped to 0..255.
HWY_INLINE VBytes FourBytes(const VWords (&pixels)[4]) {
  const Words d;
  const VWords most = hn::Set(d, 255);
  const auto clip = [&](VWords pixel) HWY_ATTR { return hn::Min(hn::Max(pixel, hn::Zero(d)), most); };
  const VWords low = hn::Or(clip(pixels[0]), hn::ShiftLeft<8>(clip(pixels[1])));
  const VWords high = hn::Or(clip(pixels[2]), hn::ShiftLeft<8>(clip(pixels[3])));
  return hn::BitCast(Bytes(), hn::Or(low, hn::ShiftLeft<16>(high)));
}

// Where rows are read from: the rows themselves, or for outputs near their ends a copy of the ends with room behind it,
// so that a whole block can always be loaded.
template <size_t kRows>
struct RowEnds {
  const uint8_t* ends[kRows];
  size_t begin = 0;  // pixel of a row that ends[] points to

  RowEnds(const uint8_t* const* in, uint32_t channels, const AxisWeights& weights, std::vector<uint8_t>* scratch) {
    // An output that reads too far takes its first pixel from at most taps_max + 16 before the end.
    const size_t kept = std::min<size_t>(weights.in_size(), weights.taps_max() + kBlockBytes);
    const size_t stride = kept * channels + 4 * kBlockBytes;
    begin = weights.in_size() - kept;
    if (scratch->size() < kRows * stride) scratch->resize(kRows * stride);
    for (size_t row = 0; row < kRows; ++row) {
      uint8_t* const copy = scratch->data() + row * stride;
      std::memcpy(copy, in[row] + begin * channels, kept * channels);
      std::memset(copy + kept * channels, 0, stride - kept * channels);
      ends[row] = copy;
    }
  }
};

// Rows of three channels, kBlocks of them: a block has a row's pixel, its lanes are R, G, B and nothing. Four pixels of
// the row are taken a step.
class ColorRows {
 public:
  // REQUIRES: `scratch` stays as it is while this lives.
  ColorRows(const uint8_t* const (&in)[kBlocks], const AxisWeights& weights, std::vector<uint8_t>* scratch)
      : in_(in), weights_(weights), ends_(in, 3, weights, scratch), row_bytes_(size_t{weights.in_size()} * 3) {}

  // Pixel `x` of the rows.
  HWY_INLINE VWords Pixel(uint32_t x) const {
    alignas(16) static constexpr uint8_t kFirst[kBlockBytes] = {0, 0x80, 3, 0x80, 1,    0x80, 4,    0x80,
                                                                2, 0x80, 5, 0x80, 0x80, 0x80, 0x80, 0x80};
    alignas(16) static constexpr uint8_t kSecond[kBlockBytes] = {6, 0x80, 9,  0x80, 7,    0x80, 10,   0x80,
                                                                 8, 0x80, 11, 0x80, 0x80, 0x80, 0x80, 0x80};
    const VBytes first = hn::LoadDup128(Bytes(), kFirst);
    const VBytes second = hn::LoadDup128(Bytes(), kSecond);
    const size_t steps = (weights_.count(x) + 3) / 4;
    size_t offset = size_t{weights_.begin(x)} * 3;
    const uint8_t* const* from = in_;
    if (offset + (steps - 1) * 12 + kBlockBytes > row_bytes_) {
      from = ends_.ends;
      offset -= ends_.begin * 3;
    }
    const int16_t* const low = weights_.low(x);
    const int16_t* const high = weights_.high(x);
    Sum sum;
    for (size_t step = 0; step < steps; ++step, offset += 12) {
      const VBytes bytes = LoadBlocks(from, offset);
      sum.Add(Pairs(bytes, first), WeightsAt(low, high, step * 4));
      sum.Add(Pairs(bytes, second), WeightsAt(low, high, step * 4 + 2));
    }
    return sum.Pixel();
  }

 private:
  const uint8_t* const* in_;
  const AxisWeights& weights_;
  const RowEnds<kBlocks> ends_;
  const size_t row_bytes_;
};

void RowsOfColor(const uint8_t* const* in, size_t rows, const AxisWeights& weights, std::vector<uint8_t>* scratch,
                 uint8_t* const* out) {
  // From R, G and B of four pixels each to four pixels of R, G, B.
  alignas(16) static constexpr uint8_t kOrder[kBlockBytes] = {0,  4, 8, 1,  5,    9,    2,    6,
                                                              10, 3, 7, 11, 0x80, 0x80, 0x80, 0x80};
  const VBytes order = hn::LoadDup128(Bytes(), kOrder);
  const uint8_t* all[kBlocks];
  for (size_t row = 0; row < kBlocks; ++row) all[row] = in[std::min(row, rows - 1)];
  const ColorRows color(all, weights, scratch);
  const uint32_t pixels = weights.out_size();
  for (uint32_t x = 0; x < pixels; x += 4) {
    const uint32_t last = pixels - 1;
    const VWords four[4] = {color.Pixel(x), color.Pixel(std::min(x + 1, last)), color.Pixel(std::min(x + 2, last)),
                            color.Pixel(std::min(x + 3, last))};
    HWY_ALIGN uint8_t result[kLanes * 4];
    hn::Store(hn::TableLookupBytesOr0(FourBytes(four), order), Bytes(), result);
    const size_t at = size_t{x} * 3;
    if (x + 6 <= pixels) {  // room for a whole block, whose last bytes the next step writes over
      for (size_t row = 0; row < rows; ++row) std::memcpy(out[row] + at, result + row * kBlockBytes, kBlockBytes);
    } else {
      const size_t bytes = std::min<size_t>(4, pixels - x) * 3;
      for (size_t row = 0; row < rows; ++row) std::memcpy(out[row] + at, result + row * kBlockBytes, bytes);
    }
  }
}

// Rows of one channel, kLanes of them, one a lane. Sixteen pixels of four rows are loaded a block, and turned into four
// vectors with four pixels of each row.
class GreyRows {
 public:
  // Row 4 * block + i stands at in[i * kBlocks + block]: load number i takes row i of every block. REQUIRES: `scratch`
  // stays as it is while this lives.
  GreyRows(const uint8_t* const (&in)[kLanes], const AxisWeights& weights, std::vector<uint8_t>* scratch)
      : in_(in), weights_(weights), ends_(in, 1, weights, scratch) {}

  // Pixel `x` of the rows.
  HWY_INLINE VWords Pixel(uint32_t x) const {
    const Words words;
    const hn::Repartition<uint64_t, Bytes> longs;
    const size_t steps = (weights_.count(x) + 3) / 4;
    size_t offset = weights_.begin(x);
    const uint8_t* const* from = in_;
    if (offset + (steps + 3) / 4 * kBlockBytes > weights_.in_size()) {
      from = ends_.ends;
      offset -= ends_.begin;
    }
    const int16_t* const low = weights_.low(x);
    const int16_t* const high = weights_.high(x);
    Sum sum;
    for (size_t step = 0; step < steps; step += 4, offset += kBlockBytes) {
      const VWords a = hn::BitCast(words, LoadBlocks(from, offset));
      const VWords b = hn::BitCast(words, LoadBlocks(from + kBlocks, offset));
      const VWords c = hn::BitCast(words, LoadBlocks(from + 2 * kBlocks, offset));
      const VWords e = hn::BitCast(words, LoadBlocks(from + 3 * kBlocks, offset));
      const auto ab = hn::BitCast(longs, hn::InterleaveLower(words, a, b));
      const auto ce = hn::BitCast(longs, hn::InterleaveLower(words, c, e));
      AddFour(hn::BitCast(Bytes(), hn::InterleaveLower(longs, ab, ce)), low, high, step, &sum);
      if (step + 1 >= steps) break;
      AddFour(hn::BitCast(Bytes(), hn::InterleaveUpper(longs, ab, ce)), low, high, step + 1, &sum);
      if (step + 2 >= steps) break;
      const auto ab_upper = hn::BitCast(longs, hn::InterleaveUpper(words, a, b));
      const auto ce_upper = hn::BitCast(longs, hn::InterleaveUpper(words, c, e));
      AddFour(hn::BitCast(Bytes(), hn::InterleaveLower(longs, ab_upper, ce_upper)), low, high, step + 2, &sum);
      if (step + 3 >= steps) break;
      AddFour(hn::BitCast(Bytes(), hn::InterleaveUpper(longs, ab_upper, ce_upper)), low, high, step + 3, &sum);
    }
    return sum.Pixel();
  }

 private:
  // Four pixels of a row in each lane.
  static HWY_INLINE void AddFour(VBytes four, const int16_t* low, const int16_t* high, size_t step, Sum* sum) {
    alignas(16) static constexpr uint8_t kFirst[kBlockBytes] = {0, 0x80, 1, 0x80, 4,  0x80, 5,  0x80,
                                                                8, 0x80, 9, 0x80, 12, 0x80, 13, 0x80};
    alignas(16) static constexpr uint8_t kSecond[kBlockBytes] = {2,  0x80, 3,  0x80, 6,  0x80, 7,  0x80,
                                                                 10, 0x80, 11, 0x80, 14, 0x80, 15, 0x80};
    sum->Add(Pairs(four, hn::LoadDup128(Bytes(), kFirst)), WeightsAt(low, high, step * 4));
    sum->Add(Pairs(four, hn::LoadDup128(Bytes(), kSecond)), WeightsAt(low, high, step * 4 + 2));
  }

  const uint8_t* const* in_;
  const AxisWeights& weights_;
  const RowEnds<kLanes> ends_;
};

void RowsOfGrey(const uint8_t* const* in, size_t rows, const AxisWeights& weights, std::vector<uint8_t>* scratch,
                uint8_t* const* out) {
  const uint8_t* all[kLanes];
  for (size_t row = 0; row < kLanes; ++row) all[row % 4 * kBlocks + row / 4] = in[std::min(row, rows - 1)];
  const GreyRows grey(all, weights, scratch);
  const uint32_t pixels = weights.out_size();
  for (uint32_t x = 0; x < pixels; x += 4) {
    const uint32_t last = pixels - 1;
    const VWords four[4] = {grey.Pixel(x), grey.Pixel(std::min(x + 1, last)), grey.Pixel(std::min(x + 2, last)),
                            grey.Pixel(std::min(x + 3, last))};
    HWY_ALIGN uint8_t result[kLanes * 4];
    hn::Store(FourBytes(four), Bytes(), result);
    if (x + 4 <= pixels) {
      for (size_t row = 0; row < rows; ++row) std::memcpy(out[row] + x, result + row * 4, 4);
    } else {
      for (size_t row = 0; row < rows; ++row) std::memcpy(out[row] + x, result + row * 4, pixels - x);
    }
  }
}

size_t RowsAtOnce(uint32_t channels) { return channels == 1 ? kLanes : kBlocks; }

void Rows(const uint8_t* const* in, size_t rows, uint32_t channels, const AxisWeights& weights,
          std::vector<uint8_t>* scratch, uint8_t* const* out) {
  static_assert(kLanes <= kResizeRowsMax);
  AUGUR_CHECK(rows > 0 && rows <= RowsAtOnce(channels));
  (channels == 1 ? RowsOfGrey : RowsOfColor)(in, rows, weights, scratch, out);
}

// kParts vectors of bytes at `x` of the output row.
template <size_t kParts>
HWY_INLINE void ColumnsAt(const uint8_t* const* in, size_t taps, const int16_t* low, const int16_t* high, size_t x,
                          uint8_t* out) {
  const Shorts d;
  const HalfBytes half;
  constexpr size_t kStep = hn::MaxLanes(HalfBytes());
  Sum lower[kParts];
  Sum upper[kParts];
  for (size_t tap = 0; tap < taps; tap += 2) {
    const PairOfWeights weights = WeightsAt(low, high, tap);
    for (size_t part = 0; part < kParts; ++part) {
      const VShorts a = hn::PromoteTo(d, hn::LoadU(half, in[tap] + x + part * kStep));
      const VShorts b = hn::PromoteTo(d, hn::LoadU(half, in[tap + 1] + x + part * kStep));
      lower[part].Add(hn::InterleaveLower(d, a, b), weights);
      upper[part].Add(hn::InterleaveUpper(d, a, b), weights);
    }
  }
  for (size_t part = 0; part < kParts; ++part) {
    // Interleaving and this go by blocks alike, so the pixels are in their order again.
    const VShorts pixels = hn::ReorderDemote2To(d, lower[part].Pixel(), upper[part].Pixel());
    hn::StoreU(hn::DemoteTo(half, pixels), half, out + x + part * kStep);
  }
}

void Columns(const uint8_t** in, const AxisWeights& weights, uint32_t place, size_t bytes, uint8_t* out) {
  constexpr size_t kStep = hn::MaxLanes(HalfBytes());
  const size_t taps = weights.count(place);
  const int16_t* const low = weights.low(place);
  const int16_t* const high = weights.high(place);
  in[taps] = in[taps - 1];  // with weight 0, when they are odd
  if (bytes < kStep) {
    PlainColumns(in, weights, place, bytes, out);
    return;
  }
  size_t x = 0;
  for (; x + 2 * kStep <= bytes; x += 2 * kStep) ColumnsAt<2>(in, taps, low, high, x, out);
  for (; x + kStep <= bytes; x += kStep) ColumnsAt<1>(in, taps, low, high, x, out);
  if (x < bytes) ColumnsAt<1>(in, taps, low, high, bytes - kStep, out);  // some of them a second time
}

#endif  // HWY_TARGET

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace augur
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace augur {
namespace {
HWY_EXPORT(RowsAtOnce);
HWY_EXPORT(Rows);
HWY_EXPORT(Columns);
HWY_EXPORT(TargetName);
}  // namespace

size_t ResizeRowsAtOnce(uint32_t channels) { return HWY_DYNAMIC_DISPATCH(RowsAtOnce)(channels); }
void ResizeRows(const uint8_t* const* in, size_t rows, uint32_t channels, const AxisWeights& weights,
                std::vector<uint8_t>* scratch, uint8_t* const* out) {
  HWY_DYNAMIC_DISPATCH(Rows)(in, rows, channels, weights, scratch, out);
}
void ResizeColumns(const uint8_t** in, const AxisWeights& weights, uint32_t place, size_t bytes, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(Columns)(in, weights, place, bytes, out);
}
const char* ResizeTarget() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }
}  // namespace augur
#endif  // HWY_ONCE
