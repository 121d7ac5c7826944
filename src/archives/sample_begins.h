// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "archives/archive_piece.h"
#include "augur/store.h"

namespace augur {

// Where an image begins in an archive.
struct SampleBegin {
  uint64_t at = 0;  // of its first byte, in the file
  Entry image;
};

// The images whose first byte is among these pieces of a file, which begin at `offset` of it, in order.
std::vector<SampleBegin> SampleBegins(std::span<const ArchivePiece> pieces, uint64_t offset);

}  // namespace augur
