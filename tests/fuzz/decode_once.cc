// SPDX-License-Identifier: Apache-2.0
#include "fuzz/decode_once.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "decode/image_decoder.h"
#include "decode/image_probe.h"
#include "decode/resize.h"

namespace augur {

bool DecodeOnce(std::span<const std::byte> file) {
  // FNV-1a of the file's end, which most mutations leave alone: a corpus file stays with its options.
  uint32_t choice = 2166136261U;
  for (const std::byte byte : file.last(std::min<size_t>(file.size(), 8))) {
    choice = (choice ^ std::to_integer<uint32_t>(byte)) * 16777619U;
  }
  choice ^= choice >> 16;
  const DecodeOptions options{.keep_grey = (choice & 1) != 0,
                              .tolerant = (choice & 2) != 0,
                              .scale_denominator = 1U << (choice >> 2 & 3),
                              .pixels_max = 1 << 20,
                              .memory_bytes_max = 32 << 20};
  const ImageInfo info = ProbeImage(file);
  const Result<DecodeNeeds> needs = MeasureImage(file, options);
  const Result<Image> image = DecodeImage(file, options);
  if (!image.ok()) {
    AUGUR_CHECK(!image.status().text().empty());
    return false;
  }
  AUGUR_CHECK(needs.ok());
  AUGUR_CHECK(image->width == needs->width && image->height == needs->height && image->channels == needs->channels);
  // What was recorded when the file was packed decides a view's sizes. (A JPEG of tables alone in front of the real one
  // is an image only to the decoder.)
  if (info.kind != ImageKind::kNone) {
    const uint32_t scale = info.kind == ImageKind::kJpeg ? options.scale_denominator : 1;
    AUGUR_CHECK(image->width == (info.width + scale - 1) / scale && image->height == (info.height + scale - 1) / scale);
    AUGUR_CHECK(uint64_t{info.width} * info.height <= options.pixels_max);
  }
  AUGUR_CHECK(image->bytes() <= needs->memory_bytes && needs->memory_bytes <= options.memory_bytes_max);
  Resizer resizer;
  const ResizeSpec spec{.width = 1 + (choice >> 4 & 31),
                        .height = 1 + (choice >> 9 & 31),
                        .filter = static_cast<ResizeFilter>((choice >> 14) % 3),
                        .passes = (choice >> 16 & 1) != 0 ? PassOrder::kPillow13 : PassOrder::kPillow12};
  const Result<Image> small = resizer.Resize(*image, spec);
  AUGUR_CHECK(small.ok() && small->width == spec.width && small->channels == image->channels);
  return true;
}

}  // namespace augur
