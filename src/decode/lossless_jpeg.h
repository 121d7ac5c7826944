// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/status.h"
#include "decode/decode_options.h"
#include "decode/image.h"

namespace augur {

// Decodes a lossless JPEG (lossless_frame.h says which) without libjpeg: that of Debian 12 knows none, and Pillow's
// wheels from 11.2 on bring one that does. The samples are the pixels, CMYK converted as of any JPEG; scale_denominator
// is ignored, as libjpeg-turbo does. Any thread; keeps nothing between calls; time linear in pixels and bytes.
//
// kCorrupt: "truncated", or broken; with `tolerant` the rows that there are, the rest black, of CMYK white. Unlike
// libjpeg it repairs nothing. kUnsupported: a kind that Pillow does not show either, or over a bound of `options`.
// REQUIRES: LosslessFrame::In(file).
Result<Image> DecodeLosslessJpeg(std::span<const std::byte> file, const DecodeOptions& options);
Result<DecodeNeeds> MeasureLosslessJpeg(std::span<const std::byte> file, const DecodeOptions& options);

}  // namespace augur
