// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "datasets/order.h"

namespace augur {

// Where the record of a file lies, and what it takes in memory.
struct FilePlace {
  uint32_t shard = 0;
  uint64_t offset = 0;        // in the shard
  uint64_t record_bytes = 0;  // there
  uint64_t bytes = 0;         // of the file, as it is read; 0: nothing to read (an empty file, or not a file)
  bool rendered = false;      // from the record, so that both are in memory for a while

  // In memory beside the record, until the file is there.
  uint64_t rendering_bytes() const { return rendered ? bytes : 0; }
};

// Tells the place of a file; of an entry that cannot be read, or is not there: bytes 0.
using FileTable = std::function<FilePlace(EntryNumber)>;

}  // namespace augur
