// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spng.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "decode/image.h"
#include "tools/odd_jpeg.h"

namespace augur {

using FileBytes = std::vector<std::byte>;

// Something like a photograph: slopes, edges and noise, another for each seed. Made rows of `samples` a pixel.
inline std::vector<uint8_t> MakeSamples(uint32_t width, uint32_t height, uint32_t samples, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<uint8_t> pixels(size_t{width} * height * samples);
  size_t at = 0;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      for (uint32_t sample = 0; sample < samples; ++sample) {
        const uint32_t slope = x * (sample + 1) + y * 2 + (x / 16 + y / 16) % 2 * 60;
        pixels[at++] = static_cast<uint8_t>(slope + random() % 8);
      }
    }
  }
  return pixels;
}

inline FileBytes MakeJpegFile(uint32_t width, uint32_t height, const OddJpeg& how = {}) {
  const uint32_t samples = how.space == 1 ? 1 : how.space >= 4 ? 4 : 3;
  return WriteOddJpeg(MakeSamples(width, height, samples).data(), width, height, how);
}

// `samples`, `width` x `height` as `color_type` and `bit_depth` lay them out, as libspng writes them. `palette` for
// SPNG_COLOR_TYPE_INDEXED.
inline FileBytes MakePngFile(uint32_t width, uint32_t height, uint8_t color_type, uint8_t bit_depth,
                             const std::vector<uint8_t>& samples, const spng_plte* palette = nullptr) {
  spng_ctx* const context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header = {.width = width,
                      .height = height,
                      .bit_depth = bit_depth,
                      .color_type = color_type,
                      .compression_method = 0,
                      .filter_method = 0,
                      .interlace_method = 0};
  spng_set_ihdr(context, &header);
  spng_plte copy = {};
  if (palette != nullptr) {
    copy = *palette;
    spng_set_plte(context, &copy);
  }
  spng_encode_image(context, samples.data(), samples.size(), SPNG_FMT_RAW, SPNG_ENCODE_FINALIZE);
  size_t bytes = 0;
  int error = 0;
  void* const file = spng_get_png_buffer(context, &bytes, &error);
  const auto* const begin = static_cast<const std::byte*>(file);
  FileBytes result(begin, begin + bytes);
  std::free(file);
  spng_ctx_free(context);
  return result;
}

// Where a chunk's header begins.
inline size_t FindChunk(const FileBytes& png, std::string_view type) {
  const std::string_view text(reinterpret_cast<const char*>(png.data()), png.size());
  return text.find(type) - 4;
}

inline std::vector<uint8_t> PixelsOf(const Image& image) { return {image.span().begin(), image.span().end()}; }

}  // namespace augur
