// SPDX-License-Identifier: Apache-2.0
// Compiled once for each set of vector instructions; the best that the processor has is chosen at run time.
//
// A seed's first outputs need the first words of the state and those around word 397, and these come by a chain of 397
// and more steps, each waiting for the one before: shift, xor, multiply, add, 12 to 17 cycles. As many vectors
// are taken through the chain together as the registers hold; bench/search.cc measures what each number of them
// gives.
#include "seed_search/seed_block.h"

#include <utility>

#include "samplers/mt19937.h"

// SVE and RVV have vectors whose size is not known when this is compiled: they cannot stand in arrays. Processors with
// SVE have NEON as well.
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "seed_search/seed_block.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace augur {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Million seeds a second and core by vectors in flight, one clue, on an Intel Xeon (family 6, model 167):
//            4     6     8    12    16
//   AVX3  31.3  40.5  46.8  50.5  54.1
//   AVX2  18.8  25.8  31.4  37.7  41.0   (16 registers: more vectors than these wait in the cache, and still gain)
// and on an AMD EPYC of Zen 5, with GCC's vectors: AVX3 66.9, 114, 138 and AVX2 34.5, 59.5, 69.9 for 4, 8 and 16.
constexpr size_t kVectors = 16;
using Words = hn::CappedTag<uint32_t, 16>;
using Vector = hn::Vec<Words>;
constexpr size_t kLanes = hn::MaxLanes(Words());
constexpr size_t kBlock = kVectors * kLanes;

constexpr size_t kMiddle = Mt19937::kMiddle;

// One word of the state's initial values from the one before it. Source: init_genrand of mt19937ar.
HWY_INLINE Vector NextWord(Vector word, Vector factor, Vector number) {
  return hn::Add(hn::Mul(hn::Xor(word, hn::ShiftRight<30>(word)), factor), number);
}

// The output whose state words are `here`, `behind` it and `middle` further on: twisted and tempered.
HWY_INLINE Vector Output(Vector here, Vector behind, Vector middle) {
  const Words d;
  const Vector one = hn::Set(d, 1);
  const Vector joined = hn::Or(hn::And(here, hn::Set(d, 0x80000000U)), hn::AndNot(hn::Set(d, 0x80000000U), behind));
  // 0 - lowest bit: all ones where it is set.
  const Vector odd = hn::Sub(hn::Zero(d), hn::And(behind, one));
  Vector word = hn::Xor(hn::Xor(middle, hn::ShiftRight<1>(joined)), hn::And(odd, hn::Set(d, 0x9908b0dfU)));
  word = hn::Xor(word, hn::ShiftRight<11>(word));
  word = hn::Xor(word, hn::And(hn::ShiftLeft<7>(word), hn::Set(d, 0x9d2c5680U)));
  word = hn::Xor(word, hn::And(hn::ShiftLeft<15>(word), hn::Set(d, 0xefc60000U)));
  return hn::Xor(word, hn::ShiftRight<18>(word));
}

// Divisor::Remainder of every lane.
HWY_INLINE Vector Remainder(const Divisor& divisor, Vector x) {
  const Words d;
#if HWY_TARGET == HWY_SCALAR  // which has no wider words
  return hn::Set(d, divisor.Remainder(hn::GetLane(x)));
#else
  const hn::RepartitionToWide<Words> wide;
  const Vector value = hn::Set(d, divisor.value);
  const Vector reciprocal = hn::Set(d, divisor.reciprocal);
  // The high halves of the products, of the even lanes and of the odd ones.
  const auto even = hn::ShiftRight<32>(hn::MulEven(x, reciprocal));
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), reciprocal);
  const Vector quotient = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
  const Vector rest = hn::Sub(x, hn::Mul(quotient, value));
  return hn::Min(rest, hn::Sub(rest, value));
#endif
}

// What of a begin is asked, by lane. `outputs` has vector number `output` at output * kLanes.
HWY_INLINE hn::Mask<Words> Passes(const CompiledQuery::Clue& clue, const uint32_t* outputs) {
  const Words d;
  const Vector rest = Remainder(clue.divisor, hn::Load(d, outputs + clue.output * kLanes));
  auto passes = hn::MaskFromVec(hn::Zero(d));
  const auto is = [&](size_t at) HWY_ATTR { return hn::Eq(rest, hn::Set(d, clue.remainders[at])); };
  for (size_t at = 0; at < clue.remainders.size(); at += CompiledQuery::kRemaindersATime) {
    passes = hn::Or(passes, hn::Or(hn::Or(is(at), is(at + 1)), hn::Or(is(at + 2), is(at + 3))));
  }
  return passes;
}

HWY_INLINE hn::Mask<Words> Passes(const CompiledQuery::Begin& begin, const uint32_t* outputs) {
  const Words d;
  auto passes = hn::MaskFromVec(hn::Zero(d));
  for (const CompiledQuery::Clue& clue : begin.any_of) {
    auto one = Passes(clue, outputs);
    if (!begin.only_any) {
      if (hn::AllFalse(d, one)) continue;
      auto another = hn::MaskFromVec(hn::Zero(d));
      for (const CompiledQuery::Clue& other : begin.and_any_of) {
        if (other.output != clue.output) another = hn::Or(another, Passes(other, outputs));
      }
      one = hn::And(one, another);
    }
    passes = hn::Or(passes, one);
  }
  return passes;
}

// The words of the state of all seeds of a block: word number `word` of vector `vector` is at Place(word, vector).
constexpr size_t kKept = kSeedOutputMax + 2;  // output k needs words k and k + 1
constexpr size_t Place(size_t word, size_t vector) { return (word * kVectors + vector) * kLanes; }

struct BlockWords {
  HWY_ALIGN uint32_t first[kKept * kBlock];   // words 0 to outputs
  HWY_ALIGN uint32_t middle[kKept * kBlock];  // words 397 to 397 + outputs - 1
};

// The chain, for all vectors side by side.
template <size_t... kVector>
HWY_INLINE void FillWords(uint32_t first_seed, size_t outputs, BlockWords* words, std::index_sequence<kVector...>) {
  const Words d;
  const Vector factor = hn::Set(d, 1812433253U);
  Vector word[kVectors] = {hn::Iota(d, static_cast<uint32_t>(first_seed + kVector * kLanes))...};
  (hn::Store(word[kVector], d, words->first + Place(0, kVector)), ...);
  size_t number = 1;
  for (; number <= outputs; ++number) {
    const Vector n = hn::Set(d, static_cast<uint32_t>(number));
    ((word[kVector] = NextWord(word[kVector], factor, n)), ...);
    (hn::Store(word[kVector], d, words->first + Place(number, kVector)), ...);
  }
  for (; number < kMiddle; ++number) {
    const Vector n = hn::Set(d, static_cast<uint32_t>(number));
    ((word[kVector] = NextWord(word[kVector], factor, n)), ...);
  }
  for (; number < kMiddle + outputs; ++number) {
    const Vector n = hn::Set(d, static_cast<uint32_t>(number));
    ((word[kVector] = NextWord(word[kVector], factor, n)), ...);
    (hn::Store(word[kVector], d, words->middle + Place(number - kMiddle, kVector)), ...);
  }
}

size_t BlockSeeds() { return kBlock; }

size_t ScanBlock(const CompiledQuery& query, uint32_t first, SeedBlockHits* hits) {
  const Words d;
  BlockWords words;
  FillWords(first, query.outputs, &words, std::make_index_sequence<kVectors>());
  size_t found = 0;
  HWY_ALIGN uint32_t outputs[(kSeedOutputMax + 1) * kLanes];
  for (size_t vector = 0; vector < kVectors; ++vector) {
    for (size_t k = 0; k < query.outputs; ++k) {
      hn::Store(Output(hn::Load(d, words.first + Place(k, vector)), hn::Load(d, words.first + Place(k + 1, vector)),
                       hn::Load(d, words.middle + Place(k, vector))),
                d, outputs + k * kLanes);
    }
    for (const CompiledQuery::Begin& begin : query.begins) {
      const auto passes = Passes(begin, outputs);
      if (hn::AllFalse(d, passes)) continue;
      uint8_t bits[8] = {};
      hn::StoreMaskBits(d, passes, bits);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if ((bits[lane / 8] >> (lane % 8) & 1) == 0) continue;
        (*hits)[found++] = {static_cast<uint32_t>(first + vector * kLanes + lane), begin.offset};
      }
    }
  }
  return found;
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace augur
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace augur {
namespace {
HWY_EXPORT(BlockSeeds);
HWY_EXPORT(ScanBlock);
HWY_EXPORT(TargetName);
}  // namespace

size_t SeedBlockSeeds() { return HWY_DYNAMIC_DISPATCH(BlockSeeds)(); }
size_t ScanSeedBlock(const CompiledQuery& query, uint32_t first, SeedBlockHits* hits) {
  return HWY_DYNAMIC_DISPATCH(ScanBlock)(query, first, hits);
}
const char* SeedBlockTarget() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }
}  // namespace augur
#endif  // HWY_ONCE
