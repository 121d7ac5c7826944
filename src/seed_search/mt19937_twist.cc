// SPDX-License-Identifier: Apache-2.0
// Compiled once for each set of vector instructions, as seed_block.cc.
#include "seed_search/mt19937_twist.h"

#include <hwy/detect_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "seed_search/mt19937_twist.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace augur {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kWords = Mt19937::kWords;
constexpr size_t kMiddle = Mt19937::kMiddle;
using Words = hn::CappedTag<uint32_t, 16>;
using Vector = hn::Vec<Words>;

// The new words from `here` on: of the old words there and behind them, and the middle ones.
HWY_INLINE Vector NewWords(const uint32_t* here, const uint32_t* middle) {
  const Words d;
  const Vector behind = hn::LoadU(d, here + 1);
  const Vector top = hn::Set(d, 0x80000000U);
  const Vector joined = hn::Or(hn::And(hn::LoadU(d, here), top), hn::AndNot(top, behind));
  const Vector odd = hn::Sub(hn::Zero(d), hn::And(behind, hn::Set(d, 1)));
  return hn::Xor(hn::Xor(hn::LoadU(d, middle), hn::ShiftRight<1>(joined)), hn::And(odd, hn::Set(d, 0x9908b0dfU)));
}

// From one state into another, so that a vector may reach over the end of its part: what it writes too much is written
// again by the part that follows, or lies behind the words.
bool Twist(TwistState* from, TwistState* to, uint32_t wanted) {
  const Words d;
  const size_t lanes = hn::Lanes(d);
  uint32_t* const old_words = from->words.data();
  uint32_t* const new_words = to->words.data();
  // The least difference to the wanted word is 0 where it is there.
  Vector least = hn::Set(d, 1);
  const auto look = [&](Vector words) HWY_ATTR { least = hn::Min(least, hn::Xor(words, hn::Set(d, wanted))); };
  for (size_t k = 0; k < kWords - kMiddle; k += lanes) {
    const Vector words = NewWords(old_words + k, old_words + k + kMiddle);
    hn::StoreU(words, d, new_words + k);
    look(words);
  }
  // The last word's neighbour is the first of the new ones.
  old_words[kWords] = new_words[0];
  for (size_t k = kWords - kMiddle; k < kWords; k += lanes) {
    const Vector words = NewWords(old_words + k, new_words + k + kMiddle - kWords);
    hn::StoreU(words, d, new_words + k);
    look(words);
  }
  return !hn::AllFalse(d, hn::Eq(least, hn::Zero(d)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace augur
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace augur {
namespace {
HWY_EXPORT(Twist);
}  // namespace

bool TwistAndLook(TwistState* from, TwistState* to, uint32_t wanted) {
  return HWY_DYNAMIC_DISPATCH(Twist)(from, to, wanted);
}
}  // namespace augur
#endif  // HWY_ONCE
