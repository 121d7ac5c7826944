// SPDX-License-Identifier: Apache-2.0
#include "decode/image_decoder.h"

#include <cstdio>  // jpeglib.h wants it

#include <jpeglib.h>
#include <spng.h>

#include "base/check.h"
#include "decode/jpeg_decoder.h"
#include "decode/jpeg_header.h"
#include "decode/png_decoder.h"
#include "decode/png_header.h"

namespace augur {
namespace {

Status NotAnImage(std::span<const std::byte> file) {
  return {Code::kCorrupt, file.empty() ? "not an image: the file is empty"
                                       : "not an image: the content is neither JPEG nor PNG, whatever the name says"};
}

}  // namespace

Result<Image> DecodeImage(std::span<const std::byte> file, const DecodeOptions& options) {
  if (LooksLikeJpeg(file)) return DecodeJpeg(file, options);
  if (LooksLikePng(file)) return DecodePng(file, options);
  return NotAnImage(file);
}

Result<DecodeNeeds> MeasureImage(std::span<const std::byte> file, const DecodeOptions& options) {
  if (LooksLikeJpeg(file)) return MeasureJpeg(file, options);
  if (LooksLikePng(file)) return MeasurePng(file, options);
  return NotAnImage(file);
}

DecodeNeeds ExpectNeeds(const ImageInfo& info, const DecodeOptions& options) {
  AUGUR_CHECK(info.kind != ImageKind::kNone);
  return info.kind == ImageKind::kJpeg ? ExpectJpeg(info, options) : ExpectPng(info, options);
}

// Three digits each are enough for a minor version and a patch; libjpeg-turbo's number is 2001005 for 2.1.5.
uint32_t DecoderVersions() {
  return LIBJPEG_TURBO_VERSION_NUMBER * 100U + SPNG_VERSION_MAJOR * 49U + SPNG_VERSION_MINOR * 7U + SPNG_VERSION_PATCH;
}

}  // namespace augur
