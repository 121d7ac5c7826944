// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

// The address of one memcached server.
struct FleetAddress {
  std::string host;  // a name, or a number of IPv4 or IPv6 without brackets
  uint16_t port = 0;

  // HOST:PORT, with brackets around IPv6. All machines of a fleet must write it alike: it decides which records the
  // server gets.
  std::string text() const;
  bool operator==(const FleetAddress&) const = default;
};

// Most servers in a list: each takes a thread of the daemon.
inline constexpr size_t kFleetMembersMax = 1024;

// Reads one HOST:PORT. kInvalid: it is none, and what one looks like. Looks up no name.
Result<FleetAddress> ParseFleetAddress(std::string_view text);
// Reads addresses with `_`, blanks or ends of lines between them; `#` begins a comment that the line ends. kInvalid:
// one is wrong or there twice, or there is none, or too many.
Result<std::vector<FleetAddress>> ParseFleetAddresses(std::string_view text);

}  // namespace augur
