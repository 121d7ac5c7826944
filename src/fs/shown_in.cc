// SPDX-License-Identifier: Apache-2.0
#include "fs/shown_in.h"

#include <string>

#include "decode/image_decoder.h"
#include "store/hash.h"
#include "views/render.h"

namespace augur {
namespace {

Hash128 HashIn(const View& view, const Entry& entry) {
  const ImageInfo& info = entry.image;
  std::string text = view.text;
  for (const uint64_t part : {entry.hash.low, entry.hash.high, entry.size, uint64_t{info.width} << 32 | info.height,
                              uint64_t{info.exif_bytes},
                              uint64_t{info.channels} << 24 | uint64_t{info.orientation} << 16 |
                                  uint64_t{info.bit_depth} << 8 | static_cast<uint64_t>(info.kind),
                              uint64_t{kRenderVersion} << 32 | DecoderVersions()}) {
    text.append(reinterpret_cast<const char*>(&part), sizeof part);
  }
  return HashBytes128(std::as_bytes(std::span(text)));
}

}  // namespace

ShownFile ShownIn(const View& view, const Entry& entry) {
  if (ShownAs(view.spec, entry) != Shown::kRendered) return ShownFile::Original(entry, view.number);
  return {.entry = entry,
          .view = view.number,
          .made = true,
          .hash = HashIn(view, entry),
          .size = RenderedSize(view.spec, entry.image)};
}

}  // namespace augur
