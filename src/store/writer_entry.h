// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "augur/store_writer.h"
#include "store/entry_spool.h"
#include "store/format.h"
#include "store/hash.h"

namespace augur {

// What a StoreWriter is given of an entry, as a spooled entry.

// The hashes of no bytes, which an empty file has.
const HashPair& EmptyHashes();

// An entry with the permission bits and the time of `attributes`, and nothing else.
SpoolEntry EntryOf(SpoolKind kind, const Attributes& attributes);

// A file whose record has no place yet.
SpoolEntry FileOf(const Attributes& attributes, const ImageInfo& image, uint64_t size, const HashPair& hashes);

// kInvalid: what a caller says of the entry cannot be stored (nanoseconds, the image's fields).
Status CheckInput(std::string_view path, const SpoolEntry& entry);

// kInvalid, "'path': defect".
Status BadInput(std::string_view path, std::string_view defect);

}  // namespace augur
