// SPDX-License-Identifier: Apache-2.0
#include "decode/image_decoder.h"

#include <cstdio>  // jpeglib.h wants it

#include <jpeglib.h>
#include <zlib.h>
// libjpeg's texts are a second header, which needs the first.
#include <jerror.h>

#include <string>

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

// What names libjpeg is its number when this was built, and of the library that runs, which has no function for it, the
// two texts that it brings: its API and its copyright, whose years change from release to release. FNV-1a.
uint32_t DecoderVersions() {
  static const uint32_t kVersions = [] {
    jpeg_error_mgr errors = {};
    jpeg_std_error(&errors);
    std::string names = std::to_string(LIBJPEG_TURBO_VERSION_NUMBER) + zlibVersion();
    for (const int text : {static_cast<int>(JMSG_VERSION), static_cast<int>(JMSG_COPYRIGHT)}) {
      if (text <= errors.last_jpeg_message) names += errors.jpeg_message_table[text];
    }
    uint32_t hash = 2166136261U;
    for (const unsigned char letter : names) hash = (hash ^ letter) * 16777619U;
    return hash;
  }();
  return kVersions;
}

}  // namespace augur
