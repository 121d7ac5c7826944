// SPDX-License-Identifier: Apache-2.0
#include "decode/image_probe.h"

#include <algorithm>

#include "decode/jpeg_header.h"
#include "decode/png_header.h"

namespace augur {

namespace {

ImageInfo Probe(std::span<const std::byte> head, std::span<const std::byte>* exif_block) {
  if (LooksLikeJpeg(head)) return ProbeJpeg(head.first(std::min(head.size(), kProbeBytesMax)), exif_block);
  if (LooksLikePng(head)) return ProbePng(head.first(std::min(head.size(), kPngProbeBytesMax)), exif_block);
  return {};
}

}  // namespace

ImageInfo ProbeImage(std::span<const std::byte> head) { return Probe(head, nullptr); }

std::span<const std::byte> ExifOf(std::span<const std::byte> head) {
  std::span<const std::byte> block;
  Probe(head, &block);
  return block;
}

}  // namespace augur
