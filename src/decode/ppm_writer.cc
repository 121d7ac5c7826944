// SPDX-License-Identifier: Apache-2.0
#include "decode/ppm_writer.h"

#include <cstdio>

#include "base/check.h"
#include "decode/field_writer.h"

namespace augur {
namespace {

struct Header {
  char text[40];  // "P6\n4294967295 4294967295\n255\n" has 29
  size_t bytes;
};

Header HeaderOf(uint32_t width, uint32_t height, uint32_t channels) {
  Header header = {};
  const int bytes =
      std::snprintf(header.text, sizeof header.text, "P%c\n%u %u\n255\n", channels == 1 ? '5' : '6', width, height);
  AUGUR_CHECK(bytes > 0 && static_cast<size_t>(bytes) < sizeof header.text);
  header.bytes = static_cast<size_t>(bytes);
  return header;
}

}  // namespace

uint64_t PpmBytes(uint32_t width, uint32_t height, uint32_t channels) {
  return HeaderOf(width, height, channels).bytes + uint64_t{width} * channels * height;
}

void WritePpm(const Image& image, std::span<std::byte> out) {
  AUGUR_CHECK(out.size() == PpmBytes(image.width, image.height, image.channels));
  const Header header = HeaderOf(image.width, image.height, image.channels);
  FieldWriter writer(out.data());
  writer.Bytes(header.text, header.bytes);
  writer.Move(image.pixels.get(), image.bytes());
}

}  // namespace augur
