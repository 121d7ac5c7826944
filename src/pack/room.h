// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"

namespace augur {

// Room knows how much more a store's disk had when packing began. One thread. Not a promise: others write, too, and
// files with the same bytes are stored once.
class Room {
 public:
  // Of the disk of folder `store`. `unlimited`: every size fits.
  static Result<Room> Of(const std::string& store, bool unlimited);

  // kNoSpace: `bytes` of `source` do not fit, with what to do.
  Status Check(uint64_t bytes, const std::string& source) const;

 private:
  Room(std::string store, uint64_t free_bytes) : store_(std::move(store)), free_bytes_(free_bytes) {}

  std::string store_;
  uint64_t free_bytes_;
};

}  // namespace augur
