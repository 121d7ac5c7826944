// SPDX-License-Identifier: Apache-2.0
#include "prefetch/event_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace augur {
namespace {

class EventQueueTest : public ::testing::Test {
 protected:
  EventQueue::Event Note(int number) {
    return [this, number] { seen_.push_back(number); };
  }
  void TakeAndRun() {
    for (const EventQueue::Event& event : queue_.Take()) event();
  }

  EventQueue queue_{10};
  std::vector<int> seen_;
};

TEST_F(EventQueueTest, AllEventsAreTakenAtOnceInTheirOrder) {
  queue_.Post(Note(1));
  EXPECT_TRUE(queue_.PostAccesses(Note(2), 1));
  queue_.Post(Note(3));
  TakeAndRun();
  EXPECT_EQ(seen_, (std::vector<int>{1, 2, 3}));
}

// The last list of hints is taken as a whole. What is no hint has no maximum here.
TEST_F(EventQueueTest, AccessesBeyondTheMaximumAreDroppedUntilSomeAreTaken) {
  EXPECT_TRUE(queue_.PostAccesses(Note(1), 9));
  EXPECT_TRUE(queue_.PostAccesses(Note(2), 20));
  EXPECT_FALSE(queue_.PostAccesses(Note(3), 1));
  queue_.Post(Note(4));
  TakeAndRun();
  EXPECT_EQ(seen_, (std::vector<int>{1, 2, 4}));
  EXPECT_TRUE(queue_.PostAccesses(Note(5), 1));
}

TEST_F(EventQueueTest, WhoWaitsForAnEventIsRefusedBeforeTheBeginningAndAfterTheEnd) {
  EXPECT_FALSE(queue_.PostIfOpen(Note(1)));
  queue_.Open();
  EXPECT_TRUE(queue_.PostIfOpen(Note(2)));
  queue_.Close(Note(3));
  EXPECT_FALSE(queue_.PostIfOpen(Note(4)));
  TakeAndRun();
  EXPECT_EQ(seen_, (std::vector<int>{2, 3}));
}

TEST_F(EventQueueTest, TakeWaitsForAnEvent) {
  std::thread poster([this] { queue_.Post(Note(1)); });
  TakeAndRun();
  poster.join();
  EXPECT_EQ(seen_, (std::vector<int>{1}));
}

}  // namespace
}  // namespace augur
