// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "augur/status.h"
#include "decode/axis_weights.h"
#include "decode/image.h"
#include "decode/weight_tables.h"

namespace augur {

// Which of the two passes of a resize comes first; between them pixels are rounded to 8 bits, so it can be seen.
enum class PassOrder : uint8_t {
  // As Pillow 12.2: horizontal, unless the image is more than 100 times as high as wide and becomes lower. All before
  // it from 3.3 on know no exception.
  kPillow12,
  // As Pillow from 13.0: vertical when more rows are taken away than twice the columns that are.
  kPillow13,
};

// A part of an image, in pixels; its edges may lie within pixels.
struct ResizeBox {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
};

struct ResizeSpec {
  uint32_t width = 0;  // of the result
  uint32_t height = 0;
  ResizeFilter filter = ResizeFilter::kBilinear;
  PassOrder passes = PassOrder::kPillow12;
  std::optional<ResizeBox> box = {};  // what of the image; none: all of it
};

// Resizer makes images of another size, equal to Pillow's Image.resize(size, resample, box) for modes L and RGB in
// every byte (PIXELS.md). It keeps the tables of weights that it made last, for the next image of the same size. Any
// thread, many at a time. Beside the result it needs memory for some rows, not for an image in between.
class Resizer {
 public:
  // Keeps `table_bytes_max` bytes of tables at most.
  explicit Resizer(size_t table_bytes_max = WeightTables::kBytesMax) : tables_(table_bytes_max) {}

  // kInvalid: the image or the result is empty, or the box is, or reaches outside the image. kUnsupported: a side of
  // more than 2^24 pixels, where Pillow's floats end. REQUIRES: image.channels is 1 or 3.
  Result<Image> Resize(const Image& image, const ResizeSpec& spec);

  // What Resize allocates at the most at the same time for an image of `width` x `height` pixels, bytes: the result,
  // rows, and tables of weights, which it may keep. The image itself is not counted. REQUIRES: sizes that Resize takes.
  static uint64_t MemoryBytes(uint32_t width, uint32_t height, uint32_t channels, const ResizeSpec& spec);

 private:
  // Own synchronization.
  WeightTables tables_;
};

}  // namespace augur
