// SPDX-License-Identifier: Apache-2.0
#include "pack/image_extension.h"

namespace augur {

using namespace std::string_view_literals;

std::string_view ImageExtension(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xff\xd8\xff"sv)) return ".jpg";
  if (text.starts_with("\x89PNG\r\n\x1a\n"sv)) return ".png";
  if (text.starts_with("GIF87a"sv) || text.starts_with("GIF89a"sv)) return ".gif";
  if (text.starts_with("RIFF"sv) && text.size() >= 12 && text.substr(8, 4) == "WEBP"sv) return ".webp";
  if (text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv)) return ".tif";
  // A BMP has its offset of pixels at 10, behind two reserved numbers.
  if (text.starts_with("BM"sv) && text.size() >= 12 && text.substr(6, 4) == "\0\0\0\0"sv) return ".bmp";
  return {};
}

}  // namespace augur
