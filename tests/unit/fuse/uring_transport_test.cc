// SPDX-License-Identifier: Apache-2.0
#include "fuse/uring_transport.h"

#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/eventfd.h>

#include <atomic>
#include <vector>

#include "base/unique_fd.h"
#include "unit/fuse/init_request.h"

namespace augur {
namespace {

// include/uapi/linux/fuse.h of Linux 6.14: FUSE_OVER_IO_URING, bit 41 of both words of flags.
constexpr uint32_t kUring = static_cast<uint32_t>((uint64_t{1} << 41) >> 32);

TEST(UringTransport, IsOfferedByItsFlag) {
  EXPECT_TRUE(UringTransport::IsOffered(Init(kInitExt, kUring)));
  EXPECT_FALSE(UringTransport::IsOffered(Init(kInitExt, ~kUring)));
  EXPECT_FALSE(UringTransport::IsOffered(Init(~kInitExt, kUring)));
  std::vector<std::byte> old = Init(kInitExt, kUring);
  old.resize(sizeof(fuse_in_header) + 16);  // as Linux 5.15 sends it
  EXPECT_FALSE(UringTransport::IsOffered(old));
}

TEST(UringTransport, TheOfferIsTakenBesideWhatLibfuseAnswered) {
  fuse_init_out answer{};
  answer.flags = FUSE_ASYNC_READ;
  answer.flags2 = 1;
  UringTransport::Accept(answer);
  EXPECT_EQ(answer.flags, FUSE_ASYNC_READ | kInitExt);
  EXPECT_EQ(answer.flags2, 1U | kUring);
}

// The kernel counts its requests from 2 up, in steps of 2; an INTERRUPT has the number of its request and 1; what is
// sent again has bit 63.
TEST(UringQueue, ATokenIsNoNumberOfTheKernel) {
  constexpr uint64_t kResent = uint64_t{1} << 63;
  for (const uint64_t number : {uint64_t{0}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 40, kResent | 4}) {
    EXPECT_FALSE(UringTransport::Carries(number)) << number;
  }
  for (const unsigned core : {0U, 1U, 65'535U}) {
    for (const unsigned entry : {0U, 15U}) {
      const uint64_t token = UringQueue::Token(core, entry);
      EXPECT_TRUE(UringTransport::Carries(token));
      EXPECT_EQ(UringQueue::CoreOf(token), core);
      EXPECT_EQ(UringQueue::EntryOf(token), entry);
    }
  }
}

TEST(UringQueue, SaysThatTheKernelRefuses) {
  const Result<RingArea> area = RingArea::Map({}, UringTransport::AreaBytes(1, 2, 4096));
  ASSERT_TRUE(area.ok());
  Result<std::unique_ptr<UringQueue>> queue =
      UringQueue::Make({.depth = 2, .payload_bytes = 4096, .memory = area->memory().data()});
  if (!queue.ok()) GTEST_SKIP() << queue.status().text();
  const UniqueFd no_connection(eventfd(0, EFD_CLOEXEC));  // takes no commands of io_uring
  std::atomic<bool> ended = false;
  std::atomic<bool> served = false;
  ASSERT_TRUE((*queue)
                  ->Start(no_connection.get(), {.serve = [&](std::span<std::byte> /*request*/) { served = true; },
                                                .ended = [&] { ended = true; }})
                  .ok());
  EXPECT_FALSE((*queue)->Open().ok());
  EXPECT_FALSE(ended);
  EXPECT_FALSE(served);
}

TEST(UringQueue, EndsWithoutHavingServed) {
  const Result<RingArea> area = RingArea::Map({}, UringTransport::AreaBytes(1, UringQueue::kDepthMax, 1 << 20));
  ASSERT_TRUE(area.ok());
  Result<std::unique_ptr<UringQueue>> queue =
      UringQueue::Make({.payload_bytes = 1 << 20, .memory = area->memory().data()});
  if (!queue.ok()) GTEST_SKIP() << queue.status().text();
  const UniqueFd no_connection(eventfd(0, EFD_CLOEXEC));
  ASSERT_TRUE((*queue)->Start(no_connection.get(), {.serve = [](auto) {}, .ended = [] {}}).ok());
  (*queue)->BeginStop();
  (*queue)->Join();  // returns
}

}  // namespace
}  // namespace augur
