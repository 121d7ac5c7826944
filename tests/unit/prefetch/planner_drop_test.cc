// SPDX-License-Identifier: Apache-2.0
// What is dropped from the page cache, what is filled in, and what is learned of a line, event by event.
#include <gtest/gtest.h>

#include <optional>

#include "prefetch/planner.h"
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

constexpr uint64_t kFileBytes = 100'000;
constexpr uint32_t kLag = 3;

FilePlace Place(EntryNumber file) {
  return {.shard = 0, .offset = file * kFileBytes, .record_bytes = kFileBytes, .bytes = kFileBytes};
}

ReaderPositionOptions WithLag() {
  ReaderPositionOptions options;
  options.lag = kLag;
  options.opens = true;
  return options;
}

// What is read next, if that is found in as many pieces of the search as there can be; else a read of nothing.
ReadPlan LookOn(Planner* planner) {
  for (int looks = 0; looks < 100; ++looks) {
    const std::optional<ReadPlan> read = planner->NextRead(1000);
    if (read) return *read;
    if (!planner->pauses()) break;
  }
  return {};
}

// A file that is read although it is not predicted is what the page cache needs least, but its reader has yet to copy
// it.
TEST(PlannerDrop, WhatWasJustAskedForStaysUntilItsReaderHasIt) {
  PlannerLimits limits;
  limits.staging_bytes_max = 4 << 20;
  limits.push_window_bytes_max = 1 << 20;
  limits.sentinel_every = 0;
  DiskModel disk;
  Planner planner(Place, disk, limits, WithLag());
  // All that is predicted was read before.
  Order order;
  for (EntryNumber file = 0; file < 100; ++file) order.push_back(file);
  planner.Append(Shared(order));
  planner.Clear();
  uint64_t now_us = 0;
  for (EntryNumber file = 0; file < 20; ++file) {
    planner.OnAccess(file, true, now_us += 1000);
    while (true) {
      const std::optional<EntryNumber> dropped = planner.NextDrop();
      if (!dropped) break;
      EXPECT_LT(*dropped + kLag, file + 1) << "after file " << file;
      planner.Dropped(*dropped);
    }
  }
  // The others do go: no more is there than may be, but for those.
  EXPECT_LE(planner.gauges().push_window_bytes, limits.push_window_bytes_max + (kLag + 1) * kFileBytes);
}

// Of many files one is missing in the retained cache: it is looked for in pieces, to the end, and then no more.
TEST(PlannerFill, LooksToTheEndThoughNothingHappens) {
  constexpr EntryNumber kFiles = 10'000;
  PlannerLimits limits;
  limits.staging_bytes_max = 4 << 20;
  limits.retained_bytes_max = uint64_t{2} * kFiles * kFileBytes;
  DiskModel disk;
  Planner planner(Place, disk, limits, WithLag());
  Order all;
  for (EntryNumber file = 0; file < kFiles; ++file) all.push_back(file);
  planner.Fill(all);
  for (EntryNumber file = 0; file + 1 < kFiles; ++file) planner.SetRetained(file);
  EXPECT_FALSE(planner.NextRead(1000).has_value()) << "this many at one time would hold up everything else";
  const ReadPlan read = LookOn(&planner);
  ASSERT_EQ(read.items.size(), 1U);
  EXPECT_EQ(read.items.back().file, kFiles - 1);
  planner.Ended(read, 2000, /*asked=*/true);
  for (const ReadPlan::Item& item : read.items) planner.Arrived(item, true);
  EXPECT_TRUE(LookOn(&planner).items.empty());
  EXPECT_FALSE(planner.pauses()) << "it comes to an end";
}

// A read that a copy on the disk has served is quick, and says nothing of the way to the server.
TEST(PlannerFar, AReadThatACopyServedIsNoRoundTrip) {
  PlannerLimits limits;
  limits.staging_bytes_max = 64 << 20;
  limits.SetFar();
  DiskModel line = DiskModel::Far();
  Planner planner(Place, line, limits, WithLag());
  Order order;
  for (EntryNumber file = 0; file < 1000; ++file) order.push_back(file);
  planner.Append(Shared(order));
  const ReadPlan copied = LookOn(&planner);
  const ReadPlan fetched = LookOn(&planner);
  ASSERT_FALSE(copied.items.empty() || fetched.items.empty());
  planner.Ended(copied, 1100, /*asked=*/false);
  EXPECT_EQ(line.round_trip_us(), 0U);
  planner.Ended(fetched, 31'000, /*asked=*/true);
  EXPECT_EQ(line.round_trip_us(), 30'000U);
}

}  // namespace
}  // namespace augur
