// SPDX-License-Identifier: Apache-2.0
#include "fuzz/decode_once.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "decode/image_decoder.h"
#include "decode/image_probe.h"
#include "decode/lossless_frame.h"
#include "decode/resize.h"
#include "views/render.h"
#include "views/view_spec.h"

namespace augur {
namespace {

constexpr uint64_t kPixelsMax = 1 << 20;
constexpr uint64_t kMemoryMax = 32 << 20;

// Every container, each way into it: decoded in its place, from elsewhere, resized, cropped, tolerant.
constexpr std::array<std::string_view, 12> kSpecs = {
    "npy",
    "npy+layout=chw",
    "npy+dtype=f32+mean=0.5_0.5_0.5+std=0.1_0.2_0.3",
    "npy+size=17+crop=20",
    "npy+size=9+fast",
    "npy+size=31x7+filter=lanczos+passes=pillow13+tolerant",
    "pixels+all",
    "pixels+all+tolerant",
    "pixels+all+as=ppm",
    "pixels+all+as=bmp",
    "pixels+all+as=bmp+size=12+fit=long",
    "pixels+all+crop=40",
};

// What a view makes of the file, as it was recorded: the file of the view, or an error that says something; and the
// same whether it is decoded into its place or elsewhere.
void RenderOnce(const ViewSpec& spec, const ImageInfo& info, std::span<const std::byte> file) {
  const Appearance appearance = AppearanceOf(spec, info);
  if (appearance == Appearance::kAbsent || appearance == Appearance::kOriginal) return;
  if (uint64_t{info.width} * info.height > kPixelsMax || RenderedSize(spec, info) > kMemoryMax) return;
  const DecodeOptions options = DecodeOptionsOf(spec, info);
  const Result<DecodeNeeds> needs = MeasureImage(file, options);
  if (!needs.ok() || needs->memory_bytes > kMemoryMax) return;
  AUGUR_CHECK(RenderFileMemory(spec, info, *needs) <= needs->memory_bytes + RenderMemory(spec, info));
  Resizer resizer;
  std::vector<std::byte> out(RenderedSize(spec, info));
  const Status status = RenderFile(spec, info, file, &resizer, out);
  if (!status.ok()) {
    AUGUR_CHECK(!status.text().empty());
    return;
  }
  Result<Image> image = DecodeImage(file, options);
  AUGUR_CHECK(image.ok());
  const bool has_exif = appearance == Appearance::kPng && info.exif_bytes > 0;
  std::vector<std::byte> again(out.size());
  AUGUR_CHECK(
      Render(spec, info, std::move(*image), has_exif ? ExifOf(file) : std::span<const std::byte>(), &resizer, again)
          .ok());
  AUGUR_CHECK(out == again);
}

}  // namespace

bool DecodeOnce(std::span<const std::byte> file) {
  // FNV-1a of the file's end, which most mutations leave alone: a corpus file stays with its options.
  uint32_t choice = 2166136261U;
  for (const std::byte byte : file.last(std::min<size_t>(file.size(), 8))) {
    choice = (choice ^ std::to_integer<uint32_t>(byte)) * 16777619U;
  }
  choice ^= choice >> 16;
  const DecodeOptions options{.keep_grey = (choice & 1) != 0,
                              .tolerant = (choice & 2) != 0,
                              .scale_denominator = 1U << (choice >> 2 & 3),
                              .pixels_max = kPixelsMax,
                              .memory_bytes_max = kMemoryMax};
  const ImageInfo info = ProbeImage(file);
  AUGUR_CHECK(ExifOf(file).size() == info.exif_bytes);
  RenderOnce(*ParseViewSpec(kSpecs[(choice >> 17) % kSpecs.size()]), info, file);
  const Result<DecodeNeeds> needs = MeasureImage(file, options);
  const Result<Image> image = DecodeImage(file, options);
  if (!image.ok()) {
    AUGUR_CHECK(!image.status().text().empty());
    return false;
  }
  AUGUR_CHECK(needs.ok());
  AUGUR_CHECK(image->width == needs->width && image->height == needs->height && image->channels == needs->channels);
  // What was recorded when the file was packed decides a view's sizes. (A JPEG of tables alone in front of the real one
  // is an image only to the decoder.)
  if (info.kind != ImageKind::kNone) {
    const bool scales = info.kind == ImageKind::kJpeg && !LosslessFrame::In(file);
    const uint32_t scale = scales ? options.scale_denominator : 1;
    AUGUR_CHECK(image->width == (info.width + scale - 1) / scale && image->height == (info.height + scale - 1) / scale);
    AUGUR_CHECK(uint64_t{info.width} * info.height <= options.pixels_max);
  }
  AUGUR_CHECK(image->bytes() <= needs->memory_bytes && needs->memory_bytes <= options.memory_bytes_max);
  Resizer resizer;
  const ResizeSpec spec{.width = 1 + (choice >> 4 & 31),
                        .height = 1 + (choice >> 9 & 31),
                        .filter = static_cast<ResizeFilter>((choice >> 14) % 3),
                        .passes = (choice >> 16 & 1) != 0 ? PassOrder::kPillow13 : PassOrder::kPillow12};
  const Result<Image> small = resizer.Resize(*image, spec);
  AUGUR_CHECK(small.ok() && small->width == spec.width && small->channels == image->channels);
  return true;
}

}  // namespace augur
