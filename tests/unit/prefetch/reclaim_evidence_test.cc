// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reclaim_evidence.h"

#include <gtest/gtest.h>

#include "prefetch/burst_counter.h"

namespace augur {
namespace {

constexpr uint64_t kFiles = 1000;

TEST(BurstCounterTest, CountsEventsNearEachOther) {
  BurstCounter counter(3, 10);
  EXPECT_FALSE(counter.Count(100));
  EXPECT_FALSE(counter.Count(110));
  EXPECT_TRUE(counter.Count(105));
  EXPECT_FALSE(counter.Count(105)) << "the next burst";
  EXPECT_FALSE(counter.Count(111)) << "too far: counts as the first";
  EXPECT_FALSE(counter.Count(121));
  EXPECT_TRUE(counter.Count(121));
}

TEST(BurstCounterTest, AJumpBackBeginsAnew) {
  BurstCounter counter(2, 10);
  EXPECT_FALSE(counter.Count(100));
  EXPECT_FALSE(counter.Count(5));
  EXPECT_TRUE(counter.Count(6));
}

TEST(ReclaimEvidenceTest, ABurstOfLostFilesCountsForFourEpochs) {
  ReclaimEvidence evidence;
  EXPECT_FALSE(evidence.Reclaims(0));
  for (uint64_t place = 0; place < 63; ++place) evidence.ReusableIsGone(place, 500, kFiles);
  EXPECT_FALSE(evidence.Reclaims(500));
  evidence.ReusableIsGone(63, 500, kFiles);
  EXPECT_TRUE(evidence.Reclaims(500 + 4 * kFiles - 1));
  EXPECT_FALSE(evidence.Reclaims(500 + 4 * kFiles));
}

TEST(ReclaimEvidenceTest, OneInThirtyIsTheKernelsRight) {
  ReclaimEvidence evidence;
  for (uint64_t place = 0; place < 100'000; place += 30) evidence.ReusableIsGone(place, place, kFiles);
  EXPECT_FALSE(evidence.Reclaims(0));
}

TEST(ReclaimEvidenceTest, NoFileIsAssumedWhereHalfAreGone) {
  ReclaimEvidence evidence;
  for (int file = 0; file < 20; ++file) evidence.AssumedIsThere();
  for (int file = 0; file < 20; ++file) EXPECT_FALSE(evidence.AssumedIsGone()) << file;
  EXPECT_TRUE(evidence.AssumedIsGone());
  for (int file = 0; file < 15; ++file) EXPECT_FALSE(evidence.AssumedIsGone()) << "counted anew: " << file;
  EXPECT_TRUE(evidence.AssumedIsGone());
}

}  // namespace
}  // namespace augur
