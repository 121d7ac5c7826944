// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg_segments.h"

#include <algorithm>

namespace augur {
namespace {

constexpr uint8_t kTem = 0x01;
constexpr uint8_t kFirstAlone = 0xD0;  // RST0 to RST7, SOI
constexpr uint8_t kEnd = 0xD9;
constexpr uint8_t kFirstApp = 0xE0;
constexpr uint8_t kExifApp = 0xE1;
constexpr uint8_t kLastApp = 0xEF;
constexpr uint8_t kComment = 0xFE;

bool IsSkipped(uint8_t code) { return (code >= kFirstApp && code <= kLastApp && code != kExifApp) || code == kComment; }

}  // namespace

std::optional<JpegSegments::Segment> JpegSegments::Next() {
  for (;;) {
    const auto rest = file_.subspan(at_);
    const auto marker = std::ranges::find(rest, std::byte{0xFF});
    const auto code_at = std::find_if(marker, rest.end(), [](std::byte byte) { return byte != std::byte{0xFF}; });
    if (code_at == rest.end()) return std::nullopt;
    const auto code = std::to_integer<uint8_t>(*code_at);
    at_ += static_cast<size_t>(code_at - rest.begin()) + 1;
    if (code == 0 || code == kTem || (code >= kFirstAlone && code < kEnd)) continue;
    at_end_ = code == kEnd;
    if (at_end_ || file_.size() - at_ < 2) return std::nullopt;
    size_t bytes = std::to_integer<size_t>(file_[at_]) << 8 | std::to_integer<size_t>(file_[at_ + 1]);
    // libjpeg takes any length where it only skips, and HeadProbe with it.
    if (bytes < 2 && IsSkipped(code)) bytes = 2;
    if (bytes < 2 || bytes > file_.size() - at_) return std::nullopt;
    Segment segment{.code = code, .body = file_.subspan(at_ + 2, bytes - 2), .end = at_ + bytes};
    at_ = segment.end;
    return segment;
  }
}

}  // namespace augur
