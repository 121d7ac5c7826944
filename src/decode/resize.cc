// SPDX-License-Identifier: Apache-2.0
#include "decode/resize.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "decode/resize_kernels.h"

namespace augur {
namespace {

// Beyond, a float does not hold every whole number, and Pillow's own boxes are off.
constexpr uint32_t kSideMax = 1U << 24;

const uint8_t* RowOf(const Image& image, size_t row) { return image.pixels.get() + row * image.row_bytes(); }
uint8_t* RowOf(Image* image, size_t row) { return image->pixels.get() + row * image->row_bytes(); }

// A row made smaller or larger, whatever the number of rows.
class HorizontalPass {
 public:
  HorizontalPass(const AxisWeights& weights, uint32_t channels)
      : weights_(weights), channels_(channels), at_once_(ResizeRowsAtOnce(channels)) {}

  // The rows that Run may be given at a time.
  size_t at_once() const { return at_once_; }

  void Run(const uint8_t* const* in, size_t rows, uint8_t* const* out) {
    ResizeRows(in, rows, channels_, weights_, &scratch_, out);
  }

 private:
  const AxisWeights& weights_;
  const uint32_t channels_;
  const size_t at_once_;
  std::vector<uint8_t> scratch_;
};

void OnlyHorizontal(const Image& image, const AxisWeights& across, Image* result) {
  HorizontalPass pass(across, image.channels);
  for (uint32_t row = 0; row < image.height;) {
    const size_t rows = std::min<size_t>(pass.at_once(), image.height - row);
    const uint8_t* in[kResizeRowsMax];
    uint8_t* out[kResizeRowsMax];
    for (size_t i = 0; i < rows; ++i) {
      in[i] = RowOf(image, row + i);
      out[i] = RowOf(result, row + i);
    }
    pass.Run(in, rows, out);
    row += static_cast<uint32_t>(rows);
  }
}

void OnlyVertical(const Image& image, const AxisWeights& down, Image* result) {
  std::vector<const uint8_t*> in(down.taps_max() + 1);
  for (uint32_t row = 0; row < result->height; ++row) {
    for (uint32_t i = 0; i < down.count(row); ++i) in[i] = RowOf(image, down.begin(row) + i);
    ResizeColumns(in.data(), down, row, image.row_bytes(), RowOf(result, row));
  }
}

// Rows are made narrow as the columns need them, and kept in a ring while they do. Rows that no column needs are not
// made.
void HorizontalFirst(const Image& image, const AxisWeights& across, const AxisWeights& down, Image* result) {
  HorizontalPass pass(across, image.channels);
  const size_t row_bytes = result->row_bytes();
  // A window, and the rows that one step may make beyond it.
  const size_t ring_rows = std::min<size_t>(image.height, down.taps_max() + pass.at_once());
  const auto ring = std::make_unique_for_overwrite<uint8_t[]>(ring_rows * row_bytes);
  const auto ring_row = [&](size_t row) { return ring.get() + row % ring_rows * row_bytes; };
  std::vector<const uint8_t*> window(down.taps_max() + 1);
  uint32_t made = down.begin(0);  // rows before it are made, or not needed
  const uint32_t last = down.end();
  for (uint32_t row = 0; row < result->height; ++row) {
    const uint32_t begin = down.begin(row);
    while (made < begin + down.count(row)) {
      const size_t rows = std::min<size_t>(pass.at_once(), last - made);
      const uint8_t* in[kResizeRowsMax];
      uint8_t* out[kResizeRowsMax];
      for (size_t i = 0; i < rows; ++i) {
        in[i] = RowOf(image, made + i);
        out[i] = ring_row(made + i);
      }
      pass.Run(in, rows, out);
      made += static_cast<uint32_t>(rows);
    }
    for (uint32_t i = 0; i < down.count(row); ++i) window[i] = ring_row(begin + i);
    ResizeColumns(window.data(), down, row, row_bytes, RowOf(result, row));
  }
}

// As many rows as the horizontal pass takes at a time are made low, then narrow.
void VerticalFirst(const Image& image, const AxisWeights& across, const AxisWeights& down, Image* result) {
  HorizontalPass pass(across, image.channels);
  const size_t row_bytes = image.row_bytes();
  const auto low = std::make_unique_for_overwrite<uint8_t[]>(pass.at_once() * row_bytes);
  std::vector<const uint8_t*> window(down.taps_max() + 1);
  for (uint32_t row = 0; row < result->height;) {
    const size_t rows = std::min<size_t>(pass.at_once(), result->height - row);
    const uint8_t* in[kResizeRowsMax];
    uint8_t* out[kResizeRowsMax];
    for (uint32_t i = 0; i < rows; ++i) {
      for (uint32_t tap = 0; tap < down.count(row + i); ++tap) window[tap] = RowOf(image, down.begin(row + i) + tap);
      ResizeColumns(window.data(), down, row + i, row_bytes, low.get() + i * row_bytes);
      in[i] = low.get() + i * row_bytes;
      out[i] = RowOf(result, row + i);
    }
    pass.Run(in, rows, out);
    row += static_cast<uint32_t>(rows);
  }
}

// Sources: Image.resize of Pillow 12.2's Image.py, ImagingResampleInner of Pillow 13.0's Resample.c.
bool IsVerticalFirst(const Image& image, const ResizeSpec& spec) {
  const int64_t rows = int64_t{image.height} - spec.height;
  const int64_t columns = int64_t{image.width} - spec.width;
  if (spec.passes == PassOrder::kPillow12) return rows > 0 && image.height > int64_t{100} * image.width;
  return rows > 0 && rows > 2 * columns;
}

Status CheckArguments(const Image& image, const ResizeSpec& spec, const ResizeBox& box) {
  if (image.width == 0 || image.height == 0 || spec.width == 0 || spec.height == 0) {
    return {Code::kInvalid, "resize: an image has at least 1x1 pixels"};
  }
  if (std::max({image.width, image.height, spec.width, spec.height}) > kSideMax) {
    return {Code::kUnsupported, "resize: a side of more than " + std::to_string(kSideMax) + " pixels"};
  }
  // Written so that a NaN is refused.
  if (!(box.left >= 0 && box.top >= 0 && box.left < box.right && box.top < box.bottom &&
        box.right <= static_cast<float>(image.width) && box.bottom <= static_cast<float>(image.height))) {
    return {Code::kInvalid, "resize: the box is empty or reaches outside the image"};
  }
  return {};
}

}  // namespace

uint64_t Resizer::MemoryBytes(uint32_t width, uint32_t height, uint32_t channels, const ResizeSpec& spec) {
  const ResizeBox box =
      spec.box.value_or(ResizeBox{.right = static_cast<float>(width), .bottom = static_cast<float>(height)});
  const Axis across{width, spec.width, box.left, box.right, spec.filter};
  const Axis down{height, spec.height, box.top, box.bottom, spec.filter};
  const uint64_t result = uint64_t{spec.width} * spec.height * channels;
  // The ring of HorizontalFirst or the rows of VerticalFirst, whichever is more.
  const uint64_t rows = (AxisWeights::TapsMax(down) + kResizeRowsMax) * channels * std::max(width, spec.width);
  // Copies of rows' ends, and a table's weights before they are rounded.
  const uint64_t scratch = kResizeRowsMax * ((AxisWeights::TapsMax(across) + 16) * channels + 64) +
                           sizeof(double) * std::max(AxisWeights::TapsMax(across), AxisWeights::TapsMax(down));
  return result + rows + scratch + AxisWeights::Bytes(across) + AxisWeights::Bytes(down);
}

Result<Image> Resizer::Resize(const Image& image, const ResizeSpec& spec) {
  AUGUR_CHECK(image.channels == 1 || image.channels == 3);
  const ResizeBox box = spec.box.value_or(
      ResizeBox{.right = static_cast<float>(image.width), .bottom = static_cast<float>(image.height)});
  AUGUR_TRY(CheckArguments(image, spec, box));
  const Axis across{image.width, spec.width, box.left, box.right, spec.filter};
  const Axis down{image.height, spec.height, box.top, box.bottom, spec.filter};

  Image result = MakeImage(spec.width, spec.height, image.channels);
  if (across.IsIdentity() && down.IsIdentity()) {
    std::memcpy(result.pixels.get(), image.pixels.get(), image.bytes());
  } else if (down.IsIdentity()) {
    OnlyHorizontal(image, *tables_.Get(across), &result);
  } else if (across.IsIdentity()) {
    OnlyVertical(image, *tables_.Get(down), &result);
  } else {
    const auto across_weights = tables_.Get(across);
    const auto down_weights = tables_.Get(down);
    (IsVerticalFirst(image, spec) ? VerticalFirst : HorizontalFirst)(image, *across_weights, *down_weights, &result);
  }
  return result;
}

}  // namespace augur
