// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/entry.h"

namespace augur {

// How much of the beginning of a JPEG is looked at: an ICC profile has 16 MiB at most, and extended XMP (previews,
// depth maps) seldom more. Of a PNG, where what counts comes first, EXIF is looked for in the first 4 MiB.
inline constexpr size_t kProbeBytesMax = size_t{64} << 20;
inline constexpr size_t kPngProbeBytesMax = size_t{4} << 20;

// Says what image a file is, by its content (a name may lie). `head` is the whole file or its beginning, and HeadProbe
// tells how much is enough. Bytes past those above are not looked at. kind is kNone when it is no JPEG or PNG, or its
// header is broken; never fails and prints nothing. A file whose header is sound and whose pixels are missing is an
// image. Any thread; memory under 100 KiB, time linear in `head`.
ImageInfo ProbeImage(std::span<const std::byte> head);

// The EXIF block, from its TIFF header on, whose length ProbeImage(head) says: within `head`, empty when that is 0. The
// same bounds.
std::span<const std::byte> ExifOf(std::span<const std::byte> head);

}  // namespace augur
