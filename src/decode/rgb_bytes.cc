// SPDX-License-Identifier: Apache-2.0
// Compiled once for each set of vector instructions; the best that the processor has is chosen at run time.
#include "decode/rgb_bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/rgb_bytes.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace augur {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Bytes = hn::ScalableTag<uint8_t>;

void Split(const uint8_t* rgb, size_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<Bytes> r;
    hn::Vec<Bytes> g;
    hn::Vec<Bytes> b;
    hn::LoadInterleaved3(d, rgb + 3 * i, r, g, b);
    hn::StoreU(r, d, red + i);
    hn::StoreU(g, d, green + i);
    hn::StoreU(b, d, blue + i);
  }
  for (; i < count; ++i) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
  }
}

void Swap(const uint8_t* rgb, size_t count, uint8_t* bgr) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<Bytes> r;
    hn::Vec<Bytes> g;
    hn::Vec<Bytes> b;
    hn::LoadInterleaved3(d, rgb + 3 * i, r, g, b);
    hn::StoreInterleaved3(b, g, r, d, bgr + 3 * i);
  }
  for (; i < count; ++i) {
    bgr[3 * i] = rgb[3 * i + 2];
    bgr[3 * i + 1] = rgb[3 * i + 1];
    bgr[3 * i + 2] = rgb[3 * i];
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace augur
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace augur {

HWY_EXPORT(Split);
HWY_EXPORT(Swap);

void SplitRgb(const uint8_t* rgb, size_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  HWY_DYNAMIC_DISPATCH(Split)(rgb, count, red, green, blue);
}

void SwapRedBlue(const uint8_t* rgb, size_t count, uint8_t* bgr) { HWY_DYNAMIC_DISPATCH(Swap)(rgb, count, bgr); }

}  // namespace augur
#endif  // HWY_ONCE
