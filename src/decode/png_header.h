// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/entry.h"

namespace augur {

// Whether `head` begins with the PNG signature.
bool LooksLikePng(std::span<const std::byte> head);

// Reads the IHDR chunk with libspng, which checks every field, checks its checksum, and looks for an eXIf chunk, which
// may stand before or after the pixels: one after the end of `head` is not found. kind is kNone when IHDR is refused.
// `exif_block`, if given, is set to the EXIF block from its TIFF header on, within `head`, when there is one.
ImageInfo ProbePng(std::span<const std::byte> head, std::span<const std::byte>* exif_block = nullptr);

}  // namespace augur
