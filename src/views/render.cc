// SPDX-License-Identifier: Apache-2.0
#include "views/render.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "decode/bmp_writer.h"
#include "decode/center_crop.h"
#include "decode/image_decoder.h"
#include "decode/image_probe.h"
#include "decode/jpeg_decoder.h"
#include "decode/npy_writer.h"
#include "decode/png_writer.h"
#include "decode/ppm_writer.h"
#include "decode/pt_writer.h"
#include "views/geometry.h"

namespace augur {
namespace {

ImageExtent ExtentOf(const ImageInfo& info) { return {.width = info.width, .height = info.height}; }

bool IsTurned(const ImageInfo& info) { return info.orientation > 1; }

Appearance ContainerOf(const ViewSpec& spec, const ImageInfo& info, ImageExtent result) {
  if (IsTurned(info)) return Appearance::kPng;
  switch (spec.as) {
    case PixelContainer::kPng: return Appearance::kPng;
    case PixelContainer::kPpm: return Appearance::kPpm;
    case PixelContainer::kBmp: break;
  }
  AUGUR_CHECK(FitsBmp(result.width, result.height, 3));  // kImagePixelsMax is a twentieth of what it can hold
  return Appearance::kBmp;
}

uint64_t FileBytes(const ViewSpec& spec, Appearance appearance, ImageExtent extent, uint32_t channels,
                   uint32_t exif_bytes) {
  switch (appearance) {
    case Appearance::kNpy: return NpyBytes(extent.width, extent.height, channels, spec.array.type);
    case Appearance::kPt: return PtBytes(extent.width, extent.height, channels, spec.array, spec.item);
    case Appearance::kArray: return ArrayBytes(extent.width, extent.height, channels, spec.array.type);
    case Appearance::kPng: return PngBytes(extent.width, extent.height, channels, exif_bytes);
    case Appearance::kPpm: return PpmBytes(extent.width, extent.height, channels);
    case Appearance::kBmp: return BmpBytes(extent.width, extent.height, channels);
    default: break;
  }
  AUGUR_CHECK(false);
  return 0;
}

void WriteFile(const ViewSpec& spec, Appearance appearance, const Image& image, std::span<const std::byte> exif,
               std::span<std::byte> out, int32_t label) {
  switch (appearance) {
    case Appearance::kNpy: return WriteNpy(image, spec.array, out);
    case Appearance::kPt: return WritePt(image, spec.array, out, spec.item, label);
    case Appearance::kArray: return WriteArray(image, spec.array, out);
    case Appearance::kPng: return WritePng(image, exif, out);
    case Appearance::kPpm: return WritePpm(image, out);
    case Appearance::kBmp: return WriteBmp(image, out);
    default: AUGUR_CHECK(false);
  }
}

// Whether the pixels as they are decoded may lie at the end of the file while it is written: they are all that it has
// beside its headers, in their order.
bool DecodesInPlace(const ViewSpec& spec, const ImageInfo& info) {
  const ViewGeometry geometry = GeometryOf(spec, ExtentOf(info));
  if (geometry.resized != geometry.decoded || geometry.cropped != geometry.resized) return false;
  switch (AppearanceOf(spec, info)) {
    case Appearance::kNpy:
    case Appearance::kArray: return KeepsPixels(ChannelsOf(spec, info), spec.array);
    case Appearance::kPng:
    case Appearance::kPpm: return true;
    default: return false;  // a BMP begins with the last row, and behind a tensor comes the archive's directory
  }
}

uint64_t DecodedBytes(const ViewSpec& spec, const ImageInfo& info) {
  return ExtentOf(info).pixels() * ChannelsOf(spec, info);
}

std::string SizeText(uint32_t width, uint32_t height, uint32_t channels) {
  return std::to_string(width) + "x" + std::to_string(height) + " pixels of " + std::to_string(channels) + " channels";
}

// Whether the decoded image is the one that the size was worked out for.
Status CheckImage(const ViewSpec& spec, const ImageInfo& info, const Image& image) {
  const uint32_t channels = ChannelsOf(spec, info);
  const bool whole = image.width == info.width && image.height == info.height;
  const bool scaled =
      spec.fast && image.width > 0 && image.height > 0 && image.width <= info.width && image.height <= info.height;
  if (image.channels == channels && (whole || scaled)) return {};
  return {Code::kCorrupt, "decoded to " + SizeText(image.width, image.height, image.channels) + ", but the store has " +
                              SizeText(info.width, info.height, channels) + ": pack the file again"};
}

}  // namespace

Appearance AppearanceOf(const ViewSpec& spec, const ImageInfo& info) {
  const bool array = spec.has_arrays() || spec.has_stacked_arrays();
  if (info.kind == ImageKind::kNone) return array ? Appearance::kAbsent : Appearance::kOriginal;
  if (!array && info.kind != ImageKind::kJpeg && !spec.all) return Appearance::kOriginal;
  const ViewGeometry geometry = GeometryOf(spec, ExtentOf(info));
  if (!FitsView(geometry)) return array ? Appearance::kAbsent : Appearance::kOriginal;
  if (spec.has_stacked_arrays()) return Appearance::kArray;
  if (array) return spec.kind == ViewKind::kNpy ? Appearance::kNpy : Appearance::kPt;
  return ContainerOf(spec, info, geometry.cropped);
}

std::string_view EndingOf(Appearance appearance) {
  switch (appearance) {
    case Appearance::kNpy: return ".npy";
    case Appearance::kPt: return ".pt";
    case Appearance::kPng: return ".png";
    case Appearance::kPpm: return ".ppm";
    case Appearance::kBmp: return ".bmp";
    case Appearance::kArray: return {};
    default: break;
  }
  AUGUR_CHECK(false);
  return {};
}

uint32_t ChannelsOf(const ViewSpec& spec, const ImageInfo& info) {
  return spec.kind == ViewKind::kPixels && info.channels == 1 ? 1 : 3;
}

uint64_t RenderedSize(const ViewSpec& spec, const ImageInfo& info) {
  return FileBytes(spec, AppearanceOf(spec, info), GeometryOf(spec, ExtentOf(info)).cropped, ChannelsOf(spec, info),
                   info.exif_bytes);
}

DecodeOptions DecodeOptionsOf(const ViewSpec& spec, const ImageInfo& info) {
  DecodeOptions options{.keep_grey = ChannelsOf(spec, info) == 1, .tolerant = spec.tolerant};
  if (spec.fast && info.kind == ImageKind::kJpeg) {
    const ImageExtent resized = GeometryOf(spec, ExtentOf(info)).resized;
    options.scale_denominator = ScaleDenominatorFor(info.width, info.height, resized.width, resized.height);
  }
  return options;
}

uint64_t RenderMemory(const ViewSpec& spec, const ImageInfo& info) {
  const ViewGeometry geometry = GeometryOf(spec, ExtentOf(info));
  const uint32_t channels = ChannelsOf(spec, info);
  uint64_t bytes = 0;
  if (geometry.resized != geometry.decoded) {
    bytes += Resizer::MemoryBytes(geometry.decoded.width, geometry.decoded.height, channels,
                                  {.width = geometry.resized.width,
                                   .height = geometry.resized.height,
                                   .filter = spec.filter,
                                   .passes = spec.passes});
  }
  if (geometry.cropped != geometry.resized) bytes += geometry.cropped.pixels() * channels;
  return bytes;
}

Status Render(const ViewSpec& spec, const ImageInfo& info, Image image, std::span<const std::byte> exif,
              Resizer* resizer, std::span<std::byte> out, int32_t label) {
  AUGUR_CHECK(out.size() == RenderedSize(spec, info));
  AUGUR_TRY(CheckImage(spec, info, image));
  const Appearance appearance = AppearanceOf(spec, info);
  if (appearance == Appearance::kPng && exif.size() != info.exif_bytes) {
    return {Code::kCorrupt, "EXIF of " + std::to_string(exif.size()) + " bytes, but the store has " +
                                std::to_string(info.exif_bytes) + ": pack the file again"};
  }
  const ViewGeometry geometry = GeometryOf(spec, ExtentOf(info));
  if (geometry.resized != ImageExtent{.width = image.width, .height = image.height}) {
    AUGUR_TRY_ASSIGN(resized, resizer->Resize(image, {.width = geometry.resized.width,
                                                      .height = geometry.resized.height,
                                                      .filter = spec.filter,
                                                      .passes = spec.passes}));
    image = std::move(resized);
  }
  if (geometry.cropped != geometry.resized) {
    image = CenterCrop(image, geometry.cropped.width, geometry.cropped.height);
  }
  WriteFile(spec, appearance, image, exif, out, label);
  return {};
}

uint64_t RenderFileMemory(const ViewSpec& spec, const ImageInfo& info, const DecodeNeeds& needs) {
  const uint64_t pixels = uint64_t{needs.width} * needs.height * needs.channels;
  const bool in_place = DecodesInPlace(spec, info) && pixels == DecodedBytes(spec, info);
  return needs.memory_bytes - (in_place ? pixels : 0) + RenderMemory(spec, info);
}

Status RenderFile(const ViewSpec& spec, const ImageInfo& info, std::span<const std::byte> file, Resizer* resizer,
                  std::span<std::byte> out, int32_t label) {
  AUGUR_CHECK(out.size() == RenderedSize(spec, info));
  DecodeOptions options = DecodeOptionsOf(spec, info);
  if (DecodesInPlace(spec, info)) {
    const std::span<std::byte> pixels = out.last(DecodedBytes(spec, info));
    options.room = {reinterpret_cast<uint8_t*>(pixels.data()), pixels.size()};
  }
  AUGUR_TRY_ASSIGN(image, DecodeImage(file, options));
  // Finding the block reads the header once more, which most images need not pay.
  const bool has_exif = info.exif_bytes > 0 && AppearanceOf(spec, info) == Appearance::kPng;
  return Render(spec, info, std::move(image), has_exif ? ExifOf(file) : std::span<const std::byte>(), resizer, out,
                label);
}

}  // namespace augur
