// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "decode/array_writer.h"
#include "decode/pt_writer.h"
#include "decode/resize.h"

namespace augur {

// npy, pt and pixels have a file for each image; the others have files of many images, of which each is an archive.
// mds and zarr have these in a folder of their own.
enum class ViewKind { kNpy, kPt, kPixels, kTar, kTfrecord, kMds, kH5, kZarr };

// Whose names the features of a tf.train.Example have: the ImageNet scripts of TensorFlow, or the data sets of TFDS.
enum class ExampleKeys { kImagenet, kTfds };
enum class PixelContainer { kPng, kPpm, kBmp };
enum class ZarrFormat { k2, k3 };

// How an image is fitted to a target; geometry.h has the arithmetic.
enum class Fit { kShort, kLong, kSquash };

// What images are resized to. `size=N` is N x N with its fit, so one view has one target.
struct ResizeTarget {
  uint32_t width = 0;
  uint32_t height = 0;
  Fit fit = Fit::kShort;
  bool operator==(const ResizeTarget&) const = default;
};

// Into which archives the images of a folder go, and in which order.
struct ArchiveSpec {
  static constexpr uint32_t kShardsMax = 99'999;  // the names of shards have five or six digits
  // Of one shard, about, where the SPEC has neither `shards` nor `shard_bytes`.
  static constexpr uint64_t kUsualShardBytes = uint64_t{128} << 20;

  uint32_t shards = 0;              // how many for each folder; 0: as many as it takes
  uint64_t shard_bytes = 0;         // the most that a shard has, unless it has one image alone; 0: no such limit
  std::optional<uint32_t> shuffle;  // the seed of the order; none: path order
  // Of tfrecord alone.
  ExampleKeys keys = ExampleKeys::kImagenet;
  std::string name;              // what the files of folder `val` are called by; of kTfds the data set. Empty: as it is
  std::optional<uint32_t> base;  // label of the first class; none: that of the keys

  // Of h5 alone: the images' files are in it, too.
  bool encoded = false;
  // Of zarr alone: the version, how many images a chunk has, and how many a file that holds chunks as a shard of the
  // format's own. 0: each chunk is a file.
  ZarrFormat format = ZarrFormat::k3;
  uint32_t chunk = 1;
  uint32_t shard_images = 0;

  uint32_t label_base() const { return base.value_or(keys == ExampleKeys::kImagenet ? 1 : 0); }
  bool operator==(const ArchiveSpec&) const = default;
};

// What a view makes of an image: the meaning of a SPEC (VIEWS.md). Two equal ones are the same view. A value type.
struct ViewSpec {
  ViewKind kind = ViewKind::kNpy;
  std::optional<ResizeTarget> size;  // none: as the image is
  ResizeFilter filter = ResizeFilter::kBilinear;
  PassOrder passes = PassOrder::kPillow12;
  bool fast = false;      // scaled DCT decoding may be used
  uint32_t crop = 0;      // side of the crop around the middle; 0: none
  bool tolerant = false;  // truncated JPEGs become what Pillow makes of them with LOAD_TRUNCATED_IMAGES
  // Of npy, pt, h5 and zarr alone.
  ArrayFormat array;
  PtItem item = PtItem::kTensor;  // of pt alone
  // Of pixels alone.
  PixelContainer as = PixelContainer::kPng;
  bool all = false;        // PNGs become pixels, too
  bool own_names = false;  // names end as the container's do
  // Of archives alone.
  ArchiveSpec archive;

  // Whether images are arrays, and other files are absent.
  bool has_arrays() const { return kind == ViewKind::kNpy || kind == ViewKind::kPt; }
  // Whether all images are arrays of one shape, one behind the other in files of many.
  bool has_stacked_arrays() const {
    return kind == ViewKind::kZarr || (kind == ViewKind::kH5 && (size.has_value() || crop > 0));
  }
  // Whether it has archives of many images instead of a file for each.
  bool has_archives() const { return !has_arrays() && kind != ViewKind::kPixels; }
  // Whether files hold the label of their class.
  bool has_labels() const { return item != PtItem::kTensor; }
  // Whether a file's bytes depend on other files of the store, so that each is of one generation.
  bool is_of_generation() const { return has_archives() || has_labels(); }
  // Whether archives lie in a folder for each folder of the store.
  bool has_archive_folders() const { return kind == ViewKind::kMds || kind == ViewKind::kZarr; }
  // Whether images have other names than in the folder.
  bool renames() const { return has_arrays() || own_names; }
  bool operator==(const ViewSpec&) const = default;
};

// A SPEC is a name in a directory, too, and every filesystem has names of that length.
inline constexpr size_t kViewSpecBytesMax = 255;

// Reads a SPEC, whose words may stand in any order. kInvalid: not a SPEC; the text names the SPEC, the word, its error
// and the accepted form of that word.
Result<ViewSpec> ParseViewSpec(std::string_view text);

// The one spelling of a view: its words in one order, without those that say the default, numbers in their shortest
// form. ParseViewSpec reads it back to an equal ViewSpec; it is at most kViewSpecBytesMax long.
std::string CanonicalSpec(const ViewSpec& spec);

}  // namespace augur
