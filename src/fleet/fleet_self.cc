// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_self.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <memory>
#include <vector>

#include "base/name_lookup.h"

namespace augur {
namespace {

// Whether both are the same address, whatever the port.
bool IsSame(const sockaddr& one, const sockaddr& two) {
  if (one.sa_family != two.sa_family) return false;
  if (one.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(one).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(two).sin_addr.s_addr;
  }
  return one.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(one).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(two).sin6_addr, sizeof(in6_addr)) == 0;
}

bool IsOwnName(const std::string& host) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return false;
  const std::string own = name.data();
  return own != "localhost" && !host.empty() && (host == own || host == own.substr(0, own.find('.')));
}

}  // namespace

Result<FleetSelf> FleetSelf::Parse(const std::string& text) {
  FleetSelf self;
  self.none = text == "none";
  if (self.none) return self;
  AUGUR_TRY_ASSIGN(address, ParseFleetAddress(text));
  self.address = std::move(address);
  return self;
}

Result<FleetAddress> FleetSelf::FindIn(std::span<const FleetAddress> list,
                                       const std::function<bool(const std::string& host)>& is_here) const {
  if (address) {
    if (std::ranges::find(list, *address) != list.end()) return *address;
    return Status(Code::kNotFound, "-o fleet-self=" + address->text() + " is not in the list of servers");
  }
  std::vector<FleetAddress> here;
  std::ranges::copy_if(list, std::back_inserter(here), [&](const FleetAddress& one) { return is_here(one.host); });
  if (here.size() == 1) return here[0];
  return Status(Code::kNotFound,
                (here.empty() ? "no server of the list has" : "several servers of the list have") +
                    std::string(" an address of this machine: name the machine's server with -o fleet-self=HOST:PORT"));
}

bool IsThisMachine(const std::string& host, const std::function<bool()>& stopped) {
  if (IsOwnName(host)) return true;
  constexpr uint16_t kAnyPort = 0;
  const Result<NameLookup::Addresses> list =
      NameLookup(host, kAnyPort).Find(std::chrono::steady_clock::now() + kNameLookupMax, stopped);
  if (!list.ok()) return false;
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(interfaces, &freeifaddrs);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    for (const addrinfo* address = list->get(); address != nullptr; address = address->ai_next) {
      if (IsSame(*one->ifa_addr, *address->ai_addr)) return true;
    }
  }
  return false;
}

}  // namespace augur
