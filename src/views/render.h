// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "augur/entry.h"
#include "augur/status.h"
#include "decode/image.h"
#include "decode/resize.h"
#include "views/view_spec.h"

namespace augur {

// What a file of the store is in a view.
enum class Appearance {
  kAbsent,    // npy views: not an image, or one that is too large to be decoded
  kOriginal,  // its own bytes under its own name
  kNpy,
  kPng,
  kPpm,
  kBmp,
};

// By what the store recorded of the file, without its bytes. An image that is too large to be decoded or made
// (FitsView) stays itself in a pixel view, so that a script gets from its own decoder what it gets from the folder. An
// image with an orientation other than 1 is a PNG whatever the view says: only a PNG can carry EXIF, and readers that
// turn pictures would no longer turn this one.
Appearance AppearanceOf(const ViewSpec& spec, const ImageInfo& info);

// ".npy", ".png", ".ppm" or ".bmp". REQUIRES: neither absent nor original.
std::string_view EndingOf(Appearance appearance);

// Channels that an image must be decoded to for Render. An npy view has RGB always, as
// Image.open(f).convert('RGB'); in a pixel view grey stays grey, and everything else is RGB.
uint32_t ChannelsOf(const ViewSpec& spec, const ImageInfo& info);

// Exact size of the file in the view, without its pixels. REQUIRES: AppearanceOf() is neither absent nor original.
uint64_t RenderedSize(const ViewSpec& spec, const ImageInfo& info);

// Resizes, crops and writes the whole file of the view into `out`. `image` is decoded, with ChannelsOf() channels, not
// turned by its orientation; with `spec.fast` it may have been decoded smaller than `info` says, by a factor that
// leaves it at least as large as ResizedExtent(). `exif` is the EXIF block from its TIFF header on, as ProbeImage
// measured it; containers without a place for it ignore it. Any thread; beside `image` and `out` it needs memory for
// one resized and one cropped image. kCorrupt: `image` or `exif` is not what `info` announced (the size would be
// another), or the resize fails. REQUIRES: `out` has RenderedSize() bytes.
Status Render(const ViewSpec& spec, const ImageInfo& info, Image image, std::span<const std::byte> exif,
              Resizer* resizer, std::span<std::byte> out);

}  // namespace augur
