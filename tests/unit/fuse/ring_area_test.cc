// SPDX-License-Identifier: Apache-2.0
#include "fuse/ring_area.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace augur {
namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr size_t kOffset = size_t{64} << 10;

UniqueFd MakeFile() {
  UniqueFd file(memfd_create("ring-area-test", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(file.get(), kOffset + kBytes), 0);
  return file;
}

RingArea::Place PlaceIn(const UniqueFd& file, uintptr_t address) {
  return {.file = UniqueFd(fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), .offset = kOffset, .address = address};
}

TEST(RingArea, IsZeroAtFirst) {
  const Result<RingArea> area = RingArea::Map({}, kBytes);
  ASSERT_TRUE(area.ok()) << area.status().text();
  ASSERT_EQ(area->memory().size(), kBytes);
  EXPECT_TRUE(std::ranges::all_of(area->memory(), [](std::byte one) { return one == std::byte{0}; }));
}

// Promise: the next daemon has what the one before has written, at the same address.
TEST(RingArea, IsFoundAgainAtItsAddress) {
  const UniqueFd file = MakeFile();
  uintptr_t address = 0;
  {
    const Result<RingArea> first = RingArea::Map(PlaceIn(file, 0), kBytes);
    ASSERT_TRUE(first.ok()) << first.status().text();
    first->memory()[7] = std::byte{42};
    address = reinterpret_cast<uintptr_t>(first->memory().data());
  }
  const Result<RingArea> next = RingArea::Map(PlaceIn(file, address), kBytes);
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(next->memory().data()), address);
  EXPECT_EQ(next->memory()[7], std::byte{42});
}

TEST(RingArea, AnAddressInUseIsRefused) {
  const UniqueFd file = MakeFile();
  const Result<RingArea> first = RingArea::Map(PlaceIn(file, 0), kBytes);
  ASSERT_TRUE(first.ok()) << first.status().text();
  const auto address = reinterpret_cast<uintptr_t>(first->memory().data());
  EXPECT_EQ(RingArea::Map(PlaceIn(file, address), kBytes).status().code(), Code::kBusy);
}

}  // namespace
}  // namespace augur
