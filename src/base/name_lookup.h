// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "augur/status.h"

struct addrinfo;

namespace augur {

// For so long the name of a server may be looked up, where nothing else sets a limit. The C library asks the second
// name server after 5 s.
inline constexpr std::chrono::seconds kNameLookupMax{15};

// NameLookup finds the addresses of one server within a time. getaddrinfo(3) has no limit of its own: with dead name
// servers it takes half a minute for each domain that is tried. So it runs on a thread (augur-lookup), and goes on
// there when its caller waits no longer; the next Find takes what it found. One look-up at most is under way. For one
// thread at a time. A numeric address is found at once.
class NameLookup {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Addresses = std::shared_ptr<const addrinfo>;

  NameLookup(std::string host, uint16_t port) : host_(std::move(host)), port_(std::to_string(port)) {}

  // The addresses of a TCP server. kIo: there are none, or none came until then. kStopped: `stopped`, which is called
  // some times a second, says that it is not to wait any longer. kNoSpace: the system gives no thread.
  Result<Addresses> Find(Time until, const std::function<bool()>& stopped);

 private:
  struct UnderWay;

  Status Begin();

  const std::string host_;
  const std::string port_;
  std::shared_ptr<UnderWay> under_way_;  // nullptr: none
};

}  // namespace augur
