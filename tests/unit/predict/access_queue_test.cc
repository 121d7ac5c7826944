// SPDX-License-Identifier: Apache-2.0
#include "predict/access_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace augur {
namespace {

TEST(AccessQueueTest, AccessesAndEventsAreTakenOnce) {
  Statistics statistics;
  AccessQueue queue(4, statistics);
  queue.AddRead(2, 10, 99, 1000);
  queue.AddOpens(3, std::array<EntryNumber, 2>{11, 12}, 2000);
  int events = 0;
  queue.Post([&events] { ++events; });
  AccessQueue::Batch batch;
  ASSERT_TRUE(queue.Take(false, &batch));
  ASSERT_EQ(batch.accesses.size(), 3U);
  EXPECT_EQ(batch.accesses[0].file, 10U);
  EXPECT_EQ(batch.accesses[0].view, 2U);
  EXPECT_EQ(batch.accesses[0].reader, 99U);
  EXPECT_TRUE(batch.accesses[0].read);
  EXPECT_EQ(batch.accesses[0].time_us, 1000U);
  EXPECT_EQ(batch.accesses[2].file, 12U);
  EXPECT_EQ(batch.accesses[2].view, 3U);
  EXPECT_EQ(batch.accesses[2].reader, 0U);
  EXPECT_FALSE(batch.accesses[2].read);
  EXPECT_EQ(batch.accesses[2].time_us, 2000U);
  ASSERT_EQ(batch.events.size(), 1U);
  batch.events[0]();
  EXPECT_EQ(events, 1);
  queue.Post([] {});
  ASSERT_TRUE(queue.Take(false, &batch));
  EXPECT_TRUE(batch.accesses.empty());
  EXPECT_EQ(batch.events.size(), 1U);
}

TEST(AccessQueueTest, WhatHasNoRoomIsDroppedAndCounted) {
  Statistics statistics;
  AccessQueue queue(4, statistics);
  AccessQueue::Batch batch;
  for (EntryNumber file = 0; file < 7; ++file) queue.AddRead(0, file, 1, file);
  ASSERT_TRUE(queue.Take(false, &batch));
  EXPECT_EQ(batch.accesses.size(), 4U);
  EXPECT_EQ(batch.dropped, 3U);
  EXPECT_EQ(statistics.Get(Stat::kAccessesDropped), 3U);
  queue.AddRead(0, 8, 1, 8);
  ASSERT_TRUE(queue.Take(false, &batch));
  EXPECT_EQ(batch.accesses.size(), 1U);
  EXPECT_EQ(batch.dropped, 0U);
}

// The accesses of a script that has just ended are still taken; an event may be about what is no more.
TEST(AccessQueueTest, AfterTheStopTheLastAccessesAreThereAndNoEvents) {
  Statistics statistics;
  AccessQueue queue(4, statistics);
  queue.AddRead(0, 5, 1, 1);
  queue.Post([] {});
  queue.Stop();
  AccessQueue::Batch batch;
  EXPECT_FALSE(queue.Take(false, &batch));
  EXPECT_EQ(batch.accesses.size(), 1U);
  EXPECT_TRUE(batch.events.empty());
}

}  // namespace
}  // namespace augur
