// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "archives/archive_piece.h"
#include "augur/store.h"

namespace augur {

// Where an image, or its array, lies in an archive: the bytes [begin, end) of the file.
struct TouchedSample {
  uint64_t begin = 0;
  uint64_t end = 0;
  Entry image;
};

// The images some bytes of which are among these pieces of a file, which begin at `offset` of it, in order.
std::vector<TouchedSample> TouchedSamples(std::span<const ArchivePiece> pieces, uint64_t offset);

}  // namespace augur
