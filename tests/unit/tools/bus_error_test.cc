// SPDX-License-Identifier: Apache-2.0
#include "tools/bus_error.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace augur {
namespace {

// The page of a file that was truncated is one that cannot be got.
void TouchALostPage() {
  EndOnBusError();
  std::FILE* const file = std::tmpfile();
  ASSERT_EQ(::ftruncate(::fileno(file), 4096), 0);
  auto* const page =
      static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0));
  ASSERT_EQ(::ftruncate(::fileno(file), 0), 0);
  page[0] = 1;
}

TEST(BusErrorDeathTest, EndsWithASentence) {
  EXPECT_EXIT(TouchALostPage(), testing::ExitedWithCode(2), "augurpack: a file of the store's folder cannot be read");
}

}  // namespace
}  // namespace augur
