// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_self.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "unit/fleet/held_name.h"

namespace augur {
namespace {

const std::vector<FleetAddress> kList = {{"node1", 11211}, {"node2", 11211}, {"node2", 11212}, {"10.0.0.3", 11211}};

bool NeverStopped() { return false; }

Result<FleetAddress> Find(const std::string& self, const std::set<std::string>& here) {
  FleetSelf parsed;
  if (!self.empty()) parsed = *FleetSelf::Parse(self);
  return parsed.FindIn(kList, [&](const std::string& host) { return here.contains(host); });
}

TEST(FleetSelf, TheOnlyServerOfThisMachineIsFound) {
  EXPECT_EQ(Find("", {"node1"})->text(), "node1:11211");
  EXPECT_EQ(Find("", {"10.0.0.3", "10.0.0.4"})->text(), "10.0.0.3:11211");
}

TEST(FleetSelf, NoneAndSeveralAreSaid) {
  for (const std::set<std::string>& here : {std::set<std::string>{}, {"node2"}, {"node1", "10.0.0.3"}}) {
    const auto found = Find("", here);
    EXPECT_EQ(found.status().code(), Code::kNotFound);
    EXPECT_NE(found.status().text().find("-o fleet-self=HOST:PORT"), std::string::npos);
  }
}

TEST(FleetSelf, WhatTheUserSaysCounts) {
  EXPECT_EQ(Find("node2:11212", {"node1"})->text(), "node2:11212");
  EXPECT_EQ(Find("node3:11211", {"node1"}).status().text(), "-o fleet-self=node3:11211 is not in the list of servers");
  EXPECT_TRUE(FleetSelf::Parse("none")->none);
  EXPECT_FALSE(FleetSelf::Parse("node1:11211")->none);
  EXPECT_EQ(FleetSelf::Parse("node1").status().code(), Code::kInvalid);
}

// Each machine has loopback addresses.
TEST(FleetSelf, LoopbackIsNoMachine) {
  for (const char* host : {"127.0.0.1", "::1", "localhost", "198.51.100.7", "no-such-host.invalid"}) {
    EXPECT_FALSE(IsThisMachine(host, NeverStopped)) << host;
  }
}

TEST(FleetSelf, NoNameIsWaitedForByOneThatStops) {
  const testing::HeldName name("node.test", {"127.0.0.1"});
  int asked = 0;
  EXPECT_FALSE(IsThisMachine("node.test", [&asked] { return asked++ > 1; }));
  EXPECT_EQ(asked, 3);
}

// Debian's /etc/hosts gives the own name a loopback address.
TEST(FleetSelf, TheOwnNameIsThisMachine) {
  std::array<char, 256> name{};
  ASSERT_EQ(gethostname(name.data(), name.size() - 1), 0);
  EXPECT_EQ(IsThisMachine(name.data(), NeverStopped), std::string(name.data()) != "localhost");
  EXPECT_FALSE(IsThisMachine(std::string(name.data()) + "x.invalid", NeverStopped));
}

TEST(FleetSelf, AddressesOfInterfacesAreThisMachine) {
  ifaddrs* interfaces = nullptr;
  ASSERT_EQ(getifaddrs(&interfaces), 0);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    std::array<char, NI_MAXHOST> host{};
    ASSERT_EQ(getnameinfo(one->ifa_addr, sizeof(sockaddr_in), host.data(), host.size(), nullptr, 0, NI_NUMERICHOST), 0);
    EXPECT_TRUE(IsThisMachine(host.data(), NeverStopped)) << host.data();
  }
  freeifaddrs(interfaces);
}

}  // namespace
}  // namespace augur
