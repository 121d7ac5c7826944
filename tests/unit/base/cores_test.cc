// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace augur {
namespace {

TEST(Cores, AreThoseThatTheProcessMayUse) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_EQ(UsableCores(), static_cast<unsigned>(CPU_COUNT(&allowed)));
}

TEST(Cores, AreOneWhereTheMaskHasOne) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  unsigned cores = 0;
  std::thread([&] {  // the mask is the thread's, so it ends with it
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) cores = UsableCores();
  })
      .join();
  EXPECT_EQ(cores, 1U);
}

TEST(Cores, AThreadMayStayOnOneOfThem) {
  const std::vector<unsigned> all = UsableCoreNumbers();
  ASSERT_FALSE(all.empty());
  for (const unsigned core : all) {
    std::vector<unsigned> stays;
    std::thread([&] {
      EXPECT_TRUE(StayOnCore(core));
      stays = UsableCoreNumbers();
    }).join();
    EXPECT_EQ(stays, std::vector<unsigned>{core});
  }
  std::vector<unsigned> stays;
  std::thread([&] {
    EXPECT_FALSE(StayOnCore(60'000)) << "no machine has that";
    stays = UsableCoreNumbers();
  }).join();
  EXPECT_EQ(stays, all);
}

}  // namespace
}  // namespace augur
