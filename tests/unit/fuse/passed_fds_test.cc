// SPDX-License-Identifier: Apache-2.0
#include "fuse/passed_fds.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace augur {
namespace {

struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

Ends MakeEnds() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void Say(const UniqueFd& end, std::string_view text) {
  ASSERT_TRUE(SendWithFds(end.get(), std::as_bytes(std::span(text)), {}));
}

// A packet; empty: the other end is gone.
std::string Hear(const UniqueFd& end) {
  std::array<std::byte, 64> packet;
  std::vector<UniqueFd> none;
  const ssize_t bytes = ReceiveWithFds(end.get(), packet, none, MSG_DONTWAIT);
  EXPECT_GE(bytes, 0);
  return {reinterpret_cast<const char*>(packet.data()), static_cast<size_t>(std::max<ssize_t>(bytes, 0))};
}

TEST(PassedFds, ADescriptorComesWithItsPacket) {
  const Ends ends = MakeEnds();
  const Ends passed = MakeEnds();
  const std::array<int, 1> fds = {passed.theirs.get()};
  const std::string_view text = "one";
  ASSERT_TRUE(SendWithFds(ends.theirs.get(), std::as_bytes(std::span(text)), fds));
  std::array<std::byte, 64> packet;
  std::vector<UniqueFd> received;
  ASSERT_EQ(ReceiveWithFds(ends.ours.get(), packet, received), 3);
  ASSERT_EQ(received.size(), 1U);
  Say(received[0], "through it");
  EXPECT_EQ(Hear(passed.ours), "through it");
}

TEST(PassedFds, TheLastWordOfOneThatReadsNoMoreIsHeard) {
  Ends ends = MakeEnds();
  Say(ends.ours, "never read");
  Say(ends.theirs, "first");
  Say(ends.theirs, "last");
  ends.theirs.Reset();
  EXPECT_EQ(Hear(ends.ours), "first");
  EXPECT_EQ(Hear(ends.ours), "last");
  EXPECT_EQ(Hear(ends.ours), "");
}

}  // namespace
}  // namespace augur
