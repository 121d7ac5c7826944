// SPDX-License-Identifier: Apache-2.0
#include "decode/cmyk.h"

#include "base/check.h"

namespace augur {

void InvertedCmykToRgb(std::span<const uint8_t> cmyk, std::span<uint8_t> rgb) {
  AUGUR_CHECK(cmyk.size() % 4 == 0 && rgb.size() == cmyk.size() / 4 * 3);
  const uint8_t* in = cmyk.data();
  for (size_t out = 0; out < rgb.size(); out += 3, in += 4) {
    const unsigned light = in[3];  // 255 - black
    for (size_t channel = 0; channel < 3; ++channel) {
      // ink * light / 255, rounded by the usual exact trick; never more than light.
      const unsigned product = (255U - in[channel]) * light + 128;
      rgb[out + channel] = static_cast<uint8_t>(light - ((product + (product >> 8)) >> 8));
    }
  }
}

}  // namespace augur
