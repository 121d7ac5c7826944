// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "order/order.h"

namespace augur {

// Where the record of a file lies.
struct FilePlace {
  uint32_t shard = 0;
  uint64_t offset = 0;  // in the shard
  uint64_t bytes = 0;   // 0: nothing to read (an empty file, or not a file)
};

// Tells the place of a file; of an entry that cannot be read: bytes 0.
using FileTable = std::function<FilePlace(EntryNumber)>;

}  // namespace augur
