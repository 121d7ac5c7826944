// SPDX-License-Identifier: Apache-2.0
#include "decode/image_probe.h"

#include <algorithm>

#include "decode/jpeg_header.h"
#include "decode/png_header.h"

namespace augur {

ImageInfo ProbeImage(std::span<const std::byte> head) {
  head = head.first(std::min(head.size(), kProbeBytesMax));
  if (LooksLikeJpeg(head)) return ProbeJpeg(head);
  if (LooksLikePng(head)) return ProbePng(head);
  return {};
}

}  // namespace augur
