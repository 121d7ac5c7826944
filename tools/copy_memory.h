// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// The memory of a disk cache, `-o disk-cache=`.
struct CopyMemory {
  uint64_t index_bytes = 0;
  uint64_t writing_bytes = 0;  // blocks of records that wait to be written to it

  uint64_t bytes() const { return index_bytes + writing_bytes; }
};

// Of the `bytes` that the parts of the budget share. `index_bytes`: what the index takes for all blocks of the store.
CopyMemory DivideCopyMemory(uint64_t bytes, uint64_t index_bytes);

}  // namespace augur
