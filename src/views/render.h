// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "augur/entry.h"
#include "augur/status.h"
#include "decode/decode_options.h"
#include "decode/image.h"
#include "decode/resize.h"
#include "views/view_spec.h"

namespace augur {

// Raised whenever the same view of the same image is other bytes than before.
inline constexpr uint32_t kRenderVersion = 1;

// What a file of the store is in a view.
enum class Appearance {
  kAbsent,    // views of arrays: not an image, or one that is too large to be decoded
  kOriginal,  // its own bytes under its own name
  kNpy,
  kPt,
  kPng,
  kPpm,
  kBmp,
  kArray,  // the array alone, as it lies in a file of many
};

// By what the store recorded of the file, without its bytes. An image that is too large to be decoded or made
// (FitsView) stays itself in a pixel view. Then a script's own decoder gives the same for it as in the folder. In a
// pixel view an image with an orientation other than 1 is a PNG whatever container the view names. Only a PNG can carry
// EXIF, and readers that turn pictures would no longer turn this one. REQUIRES: the view has no archives but those of
// arrays.
Appearance AppearanceOf(const ViewSpec& spec, const ImageInfo& info);

// ".npy", ".pt", ".png", ".ppm" or ".bmp"; of kArray nothing. REQUIRES: neither absent nor original.
std::string_view EndingOf(Appearance appearance);

// Channels of the file in the view. An array has RGB always, as
// Image.open(f).convert('RGB'); in a pixel view grey stays grey, and everything else is RGB.
uint32_t ChannelsOf(const ViewSpec& spec, const ImageInfo& info);

// Exact size of the file in the view, without its pixels. REQUIRES: AppearanceOf() is neither absent nor original.
uint64_t RenderedSize(const ViewSpec& spec, const ImageInfo& info);

// How Render wants the file decoded.
DecodeOptions DecodeOptionsOf(const ViewSpec& spec, const ImageInfo& info);

// Bytes that Render allocates at the same time, beside the decoded image and the file: of the resized and the cropped
// image.
uint64_t RenderMemory(const ViewSpec& spec, const ImageInfo& info);

// Resizes, crops and writes the whole file of the view into `out`. `image` is the file, decoded with DecodeOptionsOf();
// `exif` is what ExifOf() gives of it (containers without a place for it ignore it). `label` is of views whose files
// have one (ViewSpec::has_labels). Any thread. kCorrupt: they are not what `info` announced (the size of the result
// would be another). Fails as Resizer does. After a failure `out` holds nothing valid. REQUIRES: AppearanceOf() is
// neither absent nor original; `out` has RenderedSize() bytes.
Status Render(const ViewSpec& spec, const ImageInfo& info, Image image, std::span<const std::byte> exif,
              Resizer* resizer, std::span<std::byte> out, int32_t label = 0);

// Bytes that RenderFile allocates at the same time. `needs`: what MeasureImage or ExpectNeeds says with
// DecodeOptionsOf(). Where the file is the pixels behind a header, they are decoded into it and count as its own.
uint64_t RenderFileMemory(const ViewSpec& spec, const ImageInfo& info, const DecodeNeeds& needs);

// Decodes `file`, which the store recorded as `info`, and renders it. Fails as DecodeImage and Render do. REQUIRES: as
// Render.
Status RenderFile(const ViewSpec& spec, const ImageInfo& info, std::span<const std::byte> file, Resizer* resizer,
                  std::span<std::byte> out, int32_t label = 0);

}  // namespace augur
