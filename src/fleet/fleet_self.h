// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "augur/status.h"
#include "fleet/fleet_address.h"

namespace augur {

// Which server of the fleet is the one of this machine, as the user has said it.
struct FleetSelf {
  bool none = false;                    // this machine does nothing for the others
  std::optional<FleetAddress> address;  // nothing: it is to be found

  // The value of the option: HOST:PORT, or "none". kInvalid: as ParseFleetAddress.
  static Result<FleetSelf> Parse(const std::string& text);

  // The server of this machine: the one that was named, else the only one whose host is this machine by `is_here`.
  // kNotFound: there is none, or there are several, and what the user can do.
  Result<FleetAddress> FindIn(std::span<const FleetAddress> list,
                              const std::function<bool(const std::string& host)>& is_here) const;
};

// Whether the host is this machine's name, with its domain or without, or an address of it is one of this machine's
// interfaces. Loopback does not count: every machine has it, and on some it is what the own name has. Looks the name
// up, for kNameLookupMax at most, and until `stopped`, which is called some times a second, says so: then it is not.
bool IsThisMachine(const std::string& host, const std::function<bool()>& stopped);

}  // namespace augur
