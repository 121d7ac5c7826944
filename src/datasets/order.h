// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace augur {

// Number of an entry in the store's index (Entry::number), in the four bytes that orders of millions of files afford.
// Stores of more than 2^32 entries are served, but not predicted.
using EntryNumber = uint32_t;

// The files that one epoch reads, in its order. A file may come more than once.
using Order = std::vector<EntryNumber>;

}  // namespace augur
