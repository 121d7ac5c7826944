// SPDX-License-Identifier: Apache-2.0
#include "prefetch/round_trip.h"

#include <gtest/gtest.h>

#include "prefetch/disk_model.h"

namespace augur {
namespace {

TEST(RoundTripTest, IsTheQuickestOfTheReadsThatWereAlone) {
  RoundTrip trip;
  EXPECT_EQ(trip.us(), 0U);
  trip.Begin(1000, 0);
  trip.Begin(1010, 1);
  trip.End(121'000);  // it waited for its shard to be opened
  trip.End(121'500);
  EXPECT_EQ(trip.us(), 120'000U);
  trip.Begin(200'000, 0);
  trip.End(230'000);
  EXPECT_EQ(trip.us(), 30'000U);
  // Reads beside others wait for them, and say nothing.
  trip.Begin(300'000, 0);
  trip.Begin(300'000, 1);
  trip.End(331'000);
  trip.Begin(331'000, 1);
  trip.End(331'010);
  EXPECT_EQ(trip.us(), 30'000U);
}

TEST(RoundTripTest, FollowsALineThatBecomesLonger) {
  RoundTrip trip;
  uint64_t now = 0;
  const auto read = [&](uint64_t us) {
    trip.Begin(now, 0);
    trip.End(now += us);
  };
  read(5'000);
  for (int i = 0; i < 15; ++i) read(50'000);
  EXPECT_EQ(trip.us(), 5'000U);
  read(50'000);
  EXPECT_EQ(trip.us(), 50'000U);
}

TEST(RoundTripTest, AReadThatWasNotMadeLeavesNoTrace) {
  DiskModel model;
  model.Begin(1000);
  model.Withdraw();
  model.Begin(50'000);
  model.End(80'000, 100'000);
  EXPECT_EQ(model.round_trip_us(), 30'000U);
}

// A disk 30 ms away gives 64 files at once, and then nothing for a round trip. It is no disk with a limit that is
// enforced in slices, of which a window would last from pause to pause and at least 400 ms.
TEST(RoundTripTest, BurstsOfAFarDiskAreNoPauses) {
  constexpr uint64_t kTripUs = 30'000;
  DiskModel model;
  uint64_t now = 1000;
  int bursts = 0;
  for (; !model.known(); ++bursts) {
    ASSERT_LT(bursts, 8);
    for (int read = 0; read < 64; ++read) model.Begin(now);
    now += kTripUs;
    for (int read = 0; read < 64; ++read) model.End(now, 110'000);
  }
  for (int more = 0; more < 30; ++more) {
    for (int read = 0; read < 64; ++read) model.Begin(now);
    now += kTripUs;
    for (int read = 0; read < 64; ++read) model.End(now, 110'000);
  }
  EXPECT_EQ(model.round_trip_us(), kTripUs);
  EXPECT_GT(model.windows(), 25);
}

}  // namespace
}  // namespace augur
