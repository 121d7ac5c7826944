// SPDX-License-Identifier: Apache-2.0
#include "base/bus_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <span>
#include <string>

#include "base/unique_fd.h"

namespace augur {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPages = 8;

// A file of ones without a name, mapped.
class Mapping {
 public:
  Mapping() {
    std::string name = testing::TempDir() + "/augur_bus_guard_XXXXXX";
    fd_ = UniqueFd(::mkstemp(name.data()));
    ::unlink(name.c_str());
    EXPECT_EQ(::ftruncate(fd_.get(), kPages * kPage), 0);
    void* const mapped = ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(mapped, MAP_FAILED);
    bytes_ = {static_cast<std::byte*>(mapped), kPages * kPage};
    std::ranges::fill(bytes_, std::byte{1});
  }
  ~Mapping() { ::munmap(bytes_.data(), bytes_.size()); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void CutTo(size_t pages) const { ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(pages * kPage)), 0); }
  std::span<std::byte> bytes() const { return bytes_; }
  // Of one page.
  int64_t Ones(size_t page) const { return std::ranges::count(bytes_.subspan(page * kPage, kPage), std::byte{1}); }

 private:
  UniqueFd fd_;
  std::span<std::byte> bytes_;
};

TEST(BusGuardTest, WhatAFileHasLostIsZeros) {
  const Mapping mapping;
  const BusGuard guard(mapping.bytes().data(), mapping.bytes().size());
  mapping.CutTo(3);
  EXPECT_FALSE(guard.lost()) << "nothing has been looked at";
  EXPECT_EQ(mapping.Ones(2), int64_t{kPage});
  EXPECT_FALSE(guard.lost());
  EXPECT_EQ(mapping.Ones(5), 0);
  EXPECT_TRUE(guard.lost());
  EXPECT_EQ(mapping.Ones(4), 0) << "before the page that was looked at first";
  mapping.bytes().back() = std::byte{1};
  EXPECT_EQ(mapping.Ones(kPages - 1), 1) << "it can be written to";
  EXPECT_EQ(mapping.Ones(0), int64_t{kPage});
}

TEST(BusGuardTest, EachMappingHasItsOwn) {
  const Mapping one;
  const Mapping two;
  const BusGuard guard_of_one(one.bytes().data(), one.bytes().size());
  const BusGuard guard_of_two(two.bytes().data(), two.bytes().size());
  two.CutTo(0);
  EXPECT_EQ(two.Ones(0), 0);
  EXPECT_FALSE(guard_of_one.lost());
  EXPECT_TRUE(guard_of_two.lost());
  EXPECT_EQ(one.Ones(kPages - 1), int64_t{kPage});
}

TEST(BusGuardTest, CanBeHadAgainAndAgain) {
  for (size_t round = 0; round < 4 * BusGuard::kMappingsMax; ++round) {
    const Mapping mapping;
    const BusGuard guard(mapping.bytes().data(), mapping.bytes().size());
    mapping.CutTo(1);
    EXPECT_EQ(mapping.Ones(1), 0);
    EXPECT_TRUE(guard.lost());
  }
}

using BusGuardDeathTest = testing::Test;

TEST(BusGuardDeathTest, OtherAddressesAreNotForgiven) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);  // the sanitizers have a handler of their own
        const Mapping guarded;
        const Mapping other;
        const BusGuard guard(guarded.bytes().data(), guarded.bytes().size());
        other.CutTo(0);
        ::_exit(static_cast<int>(other.Ones(0)));
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace augur
