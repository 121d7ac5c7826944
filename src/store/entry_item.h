// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/entry.h"
#include "store/entry_spool.h"
#include "store/format.h"

namespace augur {

// Mode with the type bits, as the format has it. REQUIRES: not a hard link.
uint32_t FullMode(const SpoolEntry& entry);

// Number of block hashes that a record of this size has.
uint64_t BlockHashCount(uint64_t size);

// The fixed part of the catalogue item of an entry; digest, path, target and blocks are the caller's to add.
format::CatalogueItem CatalogueItemOf(const SpoolEntry& entry);

// The index entry of a file, or what it has in common with one of another type: without name, parent and, unless it is
// a file, size and offset.
format::DigestedEntry IndexEntryOf(const SpoolEntry& entry);

}  // namespace augur
