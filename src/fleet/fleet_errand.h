// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "augur/status.h"
#include "fleet/memcached_connection.h"

namespace augur {

// What a machine does for the fleet on one of its servers, when nothing else is to be done there.
struct FleetErrand {
  uint64_t bytes = 0;  // that go over the network, more or less
  // On the member's thread.
  std::function<Status(MemcachedConnection& connection, MemcachedConnection::Time until)> act;
  // Once, after `act` or instead of it. False: the server is out, or `act` has failed.
  std::function<void(bool answered)> done;
};

}  // namespace augur
