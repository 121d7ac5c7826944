// SPDX-License-Identifier: Apache-2.0
#include "decode/lossless_frame.h"

#include <cstring>
#include <string>
#include <string_view>

#include "decode/jpeg_segments.h"

namespace augur {
namespace {

constexpr uint8_t kLossless = 0xC3;
constexpr uint8_t kScan = 0xDA;
constexpr uint8_t kApp0 = 0xE0;
constexpr uint8_t kApp14 = 0xEE;
constexpr size_t kFrameBytes = 6;       // precision, height, width, number of components
constexpr std::byte kNotSmaller{0x11};  // sampling factors of 1 and 1

// SOF0 to SOF15, without the three codes among them that are other segments (DHT, JPG, DAC).
bool IsFrame(uint8_t code) { return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC; }

uint32_t Number16(std::span<const std::byte> at) {
  return std::to_integer<uint32_t>(at[0]) << 8 | std::to_integer<uint32_t>(at[1]);
}

bool Begins(std::span<const std::byte> body, std::string_view name) {
  return body.size() >= name.size() && std::memcmp(body.data(), name.data(), name.size()) == 0;
}

Status Unsupported(const std::string& text) { return {Code::kUnsupported, "JPEG: lossless: " + text}; }
Status Corrupt(const std::string& text) { return {Code::kCorrupt, "JPEG: lossless: " + text}; }

}  // namespace

bool LosslessFrame::In(std::span<const std::byte> head) {
  JpegSegments segments(head);
  while (const auto segment = segments.Next()) {
    if (IsFrame(segment->code)) return segment->code == kLossless;
    if (segment->code == kScan) return false;
  }
  return false;
}

// Which colours the components are is guessed as libjpeg-turbo does it.
Result<LosslessFrame> LosslessFrame::Read(std::span<const std::byte> head) {
  JpegSegments segments(head);
  bool jfif = false;
  uint8_t transform = 0;  // of the Adobe marker
  while (const auto segment = segments.Next()) {
    const auto body = segment->body;
    if (segment->code == kApp0 && body.size() >= 14 && Begins(body, std::string_view("JFIF\0", 5))) jfif = true;
    if (segment->code == kApp14 && body.size() >= 12 && Begins(body, "Adobe")) {
      transform = std::to_integer<uint8_t>(body[11]);
    }
    if (segment->code != kLossless) continue;
    if (body.size() < kFrameBytes) return Corrupt("its header is too short");
    LosslessFrame frame{.width = Number16(body.subspan(3)),
                        .height = Number16(body.subspan(1)),
                        .components = std::to_integer<uint32_t>(body[5]),
                        .end = segment->end};
    if (body[0] != std::byte{8}) return Unsupported("samples of other than 8 bits");
    if (frame.components != 1 && frame.components != 3 && frame.components != 4) {
      return Unsupported(std::to_string(frame.components) + " components; only 1, 3 and 4 make an image");
    }
    if (frame.width == 0 || frame.height == 0 || body.size() != kFrameBytes + size_t{3} * frame.components) {
      return Corrupt("its header has no size, or not as many components as it says");
    }
    for (uint32_t i = 0; i < frame.components; ++i) {
      frame.identifiers[i] = std::to_integer<uint8_t>(body[kFrameBytes + 3 * i]);
      if (frame.components > 1 && body[kFrameBytes + 3 * i + 1] != kNotSmaller)
        return Unsupported("subsampled colours");
      for (uint32_t j = 0; j < i; ++j) {
        if (frame.identifiers[j] == frame.identifiers[i]) return Corrupt("two components of one name");
      }
    }
    frame.has_pixels = frame.components == 1 || (transform == 0 && !(jfif && frame.components == 3));
    return frame;
  }
  return Corrupt("truncated: the file ends before its image; get it whole");
}

}  // namespace augur
