// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/entry.h"

namespace augur {

// Whether `head` begins as every JPEG does: SOI and the first byte of a marker.
bool LooksLikeJpeg(std::span<const std::byte> head);

// Reads the header of a JPEG, up to its first scan, with libjpeg. kind is kNone when libjpeg refuses it, or when it has
// other than 1, 3 or 4 components: no reader makes pixels of those. 12-bit JPEGs are images, though this build of
// libjpeg cannot decode them; so are the lossless ones that LosslessFrame reads. `exif_block`, if given, is set to the
// EXIF block from its TIFF header on, within `head`, when there is one.
ImageInfo ProbeJpeg(std::span<const std::byte> head, std::span<const std::byte>* exif_block = nullptr);

}  // namespace augur
