// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/entry.h"
#include "augur/status.h"
#include "decode/decode_options.h"
#include "decode/image.h"

namespace augur {

// Decodes a JPEG in memory with libjpeg: accurate DCT, fancy upsampling, every coding that libjpeg knows (progressive,
// arithmetic, any sampling); a lossless one by lossless_jpeg.h. Equal to Pillow bit for bit (PIXELS.md). Prints
// nothing, whatever the file holds. Any thread; keeps nothing between calls. The time is linear in pixels and bytes:
// files of more than 100 scans are refused. Not for headers alone: image_probe.h.
//
// kCorrupt: the file is no JPEG, "truncated", or broken so that libjpeg gives up; libjpeg repairs much by itself, and
// what it repairs is an image here, as in Pillow. kUnsupported: a coding that libjpeg was built without, 2 or more than
// 4 components, or over a bound of `options`.
Result<Image> DecodeJpeg(std::span<const std::byte> file, const DecodeOptions& options = {});

// What DecodeJpeg needs for this file, from its header, without allocating it. Fails as DecodeJpeg does, for what the
// header shows; the bounds of `options` are not applied.
Result<DecodeNeeds> MeasureJpeg(std::span<const std::byte> file, const DecodeOptions& options = {});

// What MeasureJpeg says of a file of this size that has one scan, as baseline JPEGs do.
DecodeNeeds ExpectJpeg(const ImageInfo& info, const DecodeOptions& options);

// The largest of 1, 2, 4, 8 with which a JPEG of width x height still comes out at least wanted_width x wanted_height.
// DecodeOptions::scale_denominator may be that before a resize down to the wanted size. Source: JpegImageFile.draft of
// Pillow.
uint32_t ScaleDenominatorFor(uint32_t width, uint32_t height, uint32_t wanted_width, uint32_t wanted_height);

}  // namespace augur
