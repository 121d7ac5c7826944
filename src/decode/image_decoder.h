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

// Decodes a JPEG or a PNG, by its content: a name may lie. See DecodeJpeg and DecodePng for outcomes; kCorrupt also for
// a file that is neither ("not an image"). Any thread.
Result<Image> DecodeImage(std::span<const std::byte> file, const DecodeOptions& options = {});

// What DecodeImage needs for this file, from its header, without allocating it, so that a budget can be asked first.
// The bounds of `options` are not applied. Fails as DecodeImage does, for what the header shows.
Result<DecodeNeeds> MeasureImage(std::span<const std::byte> file, const DecodeOptions& options = {});

// What MeasureImage says of most images that were recorded as `info`, so that a budget can be asked before the file is
// read. That is of a JPEG of one scan, and of a PNG that is not interlaced. Others need more. REQUIRES: info.kind is
// not kNone.
DecodeNeeds ExpectNeeds(const ImageInfo& info, const DecodeOptions& options = {});

// A hash of the versions of the decoding libraries that run here, where they tell them: with others, the same file may
// become other pixels. libjpeg-turbo tells its version only to a program that is built with it; of one that took its
// place since, the years that its releases name count. A program that is built anew has another number when it is built
// with another version, in any case.
uint32_t DecoderVersions();

}  // namespace augur
