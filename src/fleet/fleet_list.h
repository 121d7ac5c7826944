// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "fleet/fleet_address.h"

namespace augur {

// FleetList says which memcached servers a fleet has: addresses, or a file of them that may change. A value type.
class FleetList {
 public:
  FleetList() = default;
  // The value of the option: HOST:PORT_HOST:PORT, or @FILE. Touches no file. kInvalid: as ParseFleetAddresses.
  static Result<FleetList> Parse(const std::string& text);

  bool empty() const { return addresses_.empty() && file_.empty(); }
  // The file, to be read again now and then; empty: the list stays as it is.
  const std::string& file() const { return file_; }
  void set_file(std::string path) { file_ = std::move(path); }

  // The servers, in no order that means anything. Reads the file; may wait for its disk or server. kInvalid, kIo: the
  // file is wrong, or cannot be read; the text has its name and the cause.
  Result<std::vector<FleetAddress>> Read() const;

 private:
  std::vector<FleetAddress> addresses_;
  std::string file_;
};

}  // namespace augur
