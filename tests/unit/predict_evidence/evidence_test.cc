// SPDX-License-Identifier: Apache-2.0
#include "predict/evidence.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "unit/predict_evidence/loader_reads.h"

namespace augur {
namespace {

// One place as EpochOrder::PlacesOf gives it.
std::array<uint64_t, 1> At(uint32_t place) { return {uint64_t{12345} << 32 | place}; }

void AddPlace(Evidence* evidence, uint32_t place, uint32_t stream) { evidence->AddRead(At(place), stream); }

// The mean, over all places that a reader at random may read next, of the factor by which the likelihood ratio grows.
// Ville's inequality holds as long as it is at most 1 in every state.
double MeanFactor(const Evidence& evidence, uint32_t count, uint32_t stream) {
  double sum = 0;
  for (uint32_t place = 0; place < count; ++place) {
    Evidence next = evidence;
    AddPlace(&next, place, stream);
    sum += std::exp2(next.bits() - evidence.bits());
  }
  return sum / count;
}

TEST(EvidenceTest, WhatIsExpectedSumsToAtMostOneInEveryState) {
  std::mt19937_64 random(2);
  for (const uint32_t count : {1U, 2U, 3U, 64U, 100U, 1000U, 5000U}) {
    for (const bool from_start : {true, false}) {
      Evidence evidence(count, from_start);
      for (int step = 0; step < 60; ++step) {
        if (step % 10 == 0 || count <= 100) {
          for (const uint32_t stream : {0U, 1U, 2U, 99U}) {
            EXPECT_LE(MeanFactor(evidence, count, stream), 1 + 1e-9)
                << count << " reads, step " << step << ", stream " << stream;
          }
        }
        // A state as a loader, or nobody in particular, makes it.
        const auto place = static_cast<uint32_t>(random() % 3 == 0 ? random() % count : (2 * step) % count);
        AddPlace(&evidence, place, static_cast<uint32_t>(random() % 4));
      }
    }
  }
}

// A file that comes k times is k times as likely by chance.
TEST(EvidenceTest, FilesThatComeAgainAreWeighedAsSuch) {
  std::mt19937_64 random(3);
  constexpr uint32_t kCount = 300;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<uint64_t>> places(100);
    for (uint32_t place = 0; place < kCount; ++place) places[random() % 100].push_back(place);
    Evidence evidence(kCount);
    for (int step = 0; step < 20; ++step) {
      for (const uint32_t stream : {0U, 1U}) {
        double mean = 0;
        for (const std::vector<uint64_t>& file : places) {
          if (file.empty()) continue;
          Evidence next = evidence;
          next.AddRead(file, stream);
          mean += static_cast<double>(file.size()) / kCount * std::exp2(next.bits() - evidence.bits());
        }
        EXPECT_LE(mean, 1 + 1e-9);
      }
      evidence.AddRead(places[random() % 100], static_cast<uint32_t>(random() % 3));
    }
  }
}

// Ville: to come to b bits at any time, 2^-b. Held for readers with replacement, as the theorem has it, and without,
// as the readers are that there are.
TEST(EvidenceTest, ChanceComesToNoMoreBitsThanItMay) {
  constexpr int kTraces = 10'000;
  constexpr int kBitsMax = 32;
  std::mt19937_64 random(4);
  std::array<int, kBitsMax> reached = {};
  for (int trace = 0; trace < kTraces; ++trace) {
    const uint32_t count = std::array{100U, 1000U, 50'000U}[trace % 3];
    const auto streams = static_cast<uint32_t>(std::array{0, 1, 2, 4, 16}[trace / 3 % 5]);
    const bool again = trace / 15 % 2 == 0;
    const uint32_t reads = 40 + static_cast<uint32_t>(random() % 60);
    std::vector<bool> read(count, false);
    Evidence evidence(count, trace / 30 % 2 == 0);
    double most = 0;
    for (uint32_t i = 0; i < reads; ++i) {
      auto place = static_cast<uint32_t>(random() % count);
      while (!again && read[place]) place = static_cast<uint32_t>(random() % count);
      read[place] = true;
      AddPlace(&evidence, place, streams == 0 ? 0 : 1 + static_cast<uint32_t>(random() % streams));
      most = std::max(most, evidence.bits());
    }
    for (int bits = 1; bits < kBitsMax && most >= bits; ++bits) ++reached[bits];
  }
  for (int bits = 1; bits < kBitsMax; ++bits) {
    const double allowed = kTraces * std::exp2(-bits);
    // Four times the deviation of a count beyond it.
    EXPECT_LE(reached[bits], allowed + 4 * std::sqrt(allowed)) << bits << " bits";
  }
  EXPECT_EQ(reached[20], 0);
}

// Reads until so many bits; count + 1 if they never come to it.
size_t ReadsUntil(double bits, uint32_t count, const LoaderPlan& plan, uint64_t seed, size_t reads_max = 4000) {
  std::mt19937_64 random(seed);
  Evidence evidence(count);
  size_t reads = 0;
  for (const LoaderRead& read : LoaderReads(std::min(count, 20'000U), plan, random)) {
    if (++reads > reads_max) break;
    // LoaderReads makes an epoch of 20,000 at most: places of the beginning of a longer one are the same.
    AddPlace(&evidence, read.place, read.stream);
    if (evidence.bits() >= bits) return reads;
  }
  return count + 1;
}

size_t Worst(double bits, uint32_t count, const LoaderPlan& plan) {
  size_t worst = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) worst = std::max(worst, ReadsUntil(bits, count, plan, seed));
  return worst;
}

constexpr double kBelieved = 20;
constexpr double kKnown = kBelieved + 10;   // of 1,000 guesses
constexpr double kSearch = kBelieved + 33;  // of all seeds, each with two offsets

TEST(EvidenceTest, OneReaderIsBelievedAfterAHandfulOfReads) {
  for (const uint32_t count : {50'000U, 1'281'167U}) {
    const LoaderPlan plan = {.workers = 1};
    EXPECT_LE(Worst(kKnown, count, plan), 3U);
    EXPECT_LE(Worst(kSearch, count, plan), 4U);
  }
  EXPECT_LE(Worst(kSearch, 1000, {.workers = 1}), 6U);
  EXPECT_LE(Worst(kSearch, 100, {.workers = 1}), 11U);
}

TEST(EvidenceTest, WorkersAreBelievedBeforeTheirFirstBatchIsRead) {
  EXPECT_LE(Worst(kKnown, 50'000, {.workers = 2}), 5U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 2}), 6U);
  EXPECT_LE(Worst(kKnown, 50'000, {.workers = 4}), 7U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 4}), 9U);
  EXPECT_LE(Worst(kSearch, 1000, {.workers = 4}), 16U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 16, .batch = 256}), 32U);
}

TEST(EvidenceTest, RanksStrideTogether) {
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 1, .ranks = 2}), 8U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 2, .ranks = 4}), 24U);
  EXPECT_LE(Worst(kSearch, 1'281'167, {.workers = 4, .batch = 256, .ranks = 8}), 80U);
}

TEST(EvidenceTest, HalfOfTheReadsUnseen) {
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 1, .unseen = 0.5}), 8U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 4, .unseen = 0.5}), 20U);
  EXPECT_LE(Worst(kSearch, 1'281'167, {.workers = 2, .ranks = 2, .unseen = 0.5}), 20U);
}

TEST(EvidenceTest, InvisibleStreams) {
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 1, .named = false}), 6U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 4, .named = false}), 16U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 4, .unseen = 0.5, .named = false}), 40U);
  EXPECT_LE(Worst(kSearch, 50'000, {.workers = 4, .ranks = 2, .named = false}), 40U);
}

TEST(EvidenceTest, ReadsOfOtherFilesCostBits) {
  Evidence evidence(1000);
  for (uint32_t place = 0; place < 20; ++place) AddPlace(&evidence, place, 1);
  const double before = evidence.bits();
  EXPECT_FALSE(evidence.AddRead({}, 1).has_value());
  EXPECT_NEAR(evidence.bits(), before + std::log2(0.03), 1e-9);
  // The stream goes on where it was.
  AddPlace(&evidence, 20, 1);
  EXPECT_GT(evidence.bits(), before);
  EXPECT_EQ(evidence.reads(), 22U);
  EXPECT_EQ(evidence.agreed(), 21U);
}

TEST(EvidenceTest, OfSeveralPlacesTheLikelierIsTaken) {
  Evidence evidence(1000);
  AddPlace(&evidence, 400, 1);
  const std::vector<uint64_t> places = {17, 401, 950};
  EXPECT_EQ(evidence.AddRead(places, 1), 401U);
  EXPECT_EQ(evidence.AddRead(std::vector<uint64_t>{3, 402}, 1), 402U);
}

TEST(EvidenceTest, ManyStreamsAreForgottenRatherThanKept) {
  Evidence evidence(1'000'000);
  for (uint32_t stream = 1; stream <= 3 * Evidence::kStreamsMax; ++stream) AddPlace(&evidence, stream, stream);
  EXPECT_EQ(evidence.reads(), 3 * Evidence::kStreamsMax);
}

}  // namespace
}  // namespace augur
