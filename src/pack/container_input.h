// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/status.h"

namespace augur {

// ContainerInput is the bytes of a file of many records, from its beginning to its end. One thread.
class ContainerInput {
 public:
  virtual ~ContainerInput() = default;
  // The next bytes, empty at the end; valid until the call after the next one. kStopped: the run is to end.
  virtual Result<std::span<const std::byte>> Next() = 0;
  // Fills `out` with bytes from `offset` on, wherever Next is. kChanged: there are no such bytes, or not any more.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) = 0;
};

}  // namespace augur
