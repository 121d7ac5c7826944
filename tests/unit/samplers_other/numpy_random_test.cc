// SPDX-License-Identifier: Apache-2.0
// Engines against vectors that their authors published.
#include "samplers/numpy_random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "samplers/pcg64.h"
#include "samplers/philox.h"
#include "samplers/seed_sequence.h"

namespace augur {
namespace {

// numpy/random/tests/test_seed_sequence.py, test_reference_data: from O'Neill's reference in C++.
TEST(SeedSequence, ReferenceData) {
  const std::vector<std::array<uint32_t, 4>> inputs = {
      {3735928559U, 195939070U, 229505742U, 305419896U},
      {3668361503U, 4165561550U, 1661411377U, 3634257570U},
      {164546577U, 4166754639U, 1765190214U, 1303880213U},
      {446610472U, 3941463886U, 522937693U, 1882353782U},
  };
  const std::vector<std::vector<uint32_t>> outputs = {
      {3914649087U, 576849849U, 3593928901U, 2229911004U},
      {2240804226U, 3691353228U, 1365957195U, 2654016646U},
      {3562296087U, 3191708229U, 1147942216U, 3726991905U},
      {1403443605U, 3591372999U, 1291086759U, 441919183U},
  };
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(SeedSequence(inputs[i]).State32(4), outputs[i]) << i;
}

// numpy/random/tests/data/pcg64-testset-1.csv: the first outputs of PCG64(0xdeadbeaf).
TEST(Pcg64, ReferenceData) {
  Pcg64 generator(0xdeadbeafU);
  for (const uint64_t expected : {0x60d24054e17a0698U, 0xd5e79d89856e4f12U, 0xd254972fe64bd782U, 0xf1e3072a53c72571U,
                                  0xd7c1d7393d4115c9U, 0x77b75928b763e1e2U, 0xee6dee05190f7909U, 0x15f7b1c51d7fa319U}) {
    EXPECT_EQ(generator.Next64(), expected);
  }
}

TEST(Pcg64, HalvesComeLowFirstAndTheHighOneWaits) {
  Pcg64 generator(0xdeadbeafU);
  EXPECT_EQ(generator.Next(), 0xe17a0698U);
  EXPECT_EQ(generator.Next64(), 0xd5e79d89856e4f12U);
  EXPECT_EQ(generator.Next(), 0x60d24054U);
  EXPECT_EQ(generator.Next(), 0xe64bd782U);
}

// Random123's kat_vectors for philox4x32, 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox4x32({}, {}), (PhiloxCounter{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  constexpr uint32_t kOnes = 0xffffffffU;
  EXPECT_EQ(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(Philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
            (PhiloxCounter{0xd16cfe09U, 0x94fdcceb, 0x5001e420U, 0x24126ea1U}));
}

TEST(TfPhilox, DiscardIsTaking) {
  for (const uint64_t discarded : {1U, 2U, 3U, 4U, 5U, 8U, 1003U}) {
    TfPhilox taken(5, 7);
    TfPhilox skipped(5, 7);
    EXPECT_EQ(taken.Next(), skipped.Next());
    for (uint64_t i = 0; i < discarded; ++i) taken.Next();
    skipped.Discard(discarded);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(taken.Next(), skipped.Next()) << discarded;
  }
}

}  // namespace
}  // namespace augur
