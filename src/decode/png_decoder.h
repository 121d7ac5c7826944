// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/entry.h"
#include "augur/status.h"
#include "decode/decode_options.h"
#include "decode/image.h"

namespace augur {

// Decodes a PNG in memory: every colour type and depth, interlaced or not. The pixels are those of Pillow's
// convert('RGB') (PIXELS.md): transparency is dropped, not blended; 16-bit colour loses its low byte, 16-bit grey is
// cut at 255. Of an animation it is the image in IDAT. Any thread; keeps nothing between calls; time linear in pixels
// and bytes. Ancillary chunks are passed over, so that none of them can blow up. Not for headers alone: image_probe.h.
//
// kCorrupt: the file is no PNG, "truncated", or broken: a chunk before the pixels that does not match its checksum,
// pixels that do not inflate, or whose Adler-32 is wrong. The CRC-32 of the pixels is not looked at, as Pillow does
// not. kUnsupported: over a bound of `options`.
Result<Image> DecodePng(std::span<const std::byte> file, const DecodeOptions& options = {});

// What DecodePng needs for this file, from its header, without allocating it. Fails as DecodePng does, for what the
// header shows; the bounds of `options` are not applied.
Result<DecodeNeeds> MeasurePng(std::span<const std::byte> file, const DecodeOptions& options = {});

// What MeasurePng says of a file of this size that is not interlaced; of one with a palette no less than that.
DecodeNeeds ExpectPng(const ImageInfo& info, const DecodeOptions& options);

}  // namespace augur
