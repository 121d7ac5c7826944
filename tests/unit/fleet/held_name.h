// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace augur::testing {

// A name whose look-ups in this process hang until Release, as with a dead name server, and then give these addresses
// in this order. Look-ups of other names are made. One at a time. The program that is linked with held_name.cc has its
// own getaddrinfo(3).
class HeldName {
 public:
  // `addresses`: numeric.
  HeldName(std::string host, std::vector<std::string> addresses);
  // Releases.
  ~HeldName();
  HeldName(const HeldName&) = delete;
  HeldName& operator=(const HeldName&) = delete;

  void Release();
  // That were begun.
  int lookups() const;
};

}  // namespace augur::testing
