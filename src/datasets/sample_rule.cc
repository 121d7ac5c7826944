// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_rule.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace augur {
namespace {

using Words = std::string_view;

// torchvision/datasets/folder.py, IMG_EXTENSIONS.
constexpr auto kTorchvision =
    std::to_array<Words>({".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"});
// The same up to 0.8: "webp" has no dot, so that any name that ends so is taken.
constexpr auto kOldTorchvision =
    std::to_array<Words>({".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", "webp"});
// timm/data/readers/img_extensions.py.
constexpr auto kTimm = std::to_array<Words>({".png", ".jpg", ".jpeg"});
// keras/src/utils/image_dataset_utils.py, ALLOWLIST_FORMATS.
constexpr auto kKeras = std::to_array<Words>({".bmp", ".gif", ".jpeg", ".jpg", ".png"});
// keras/src/legacy/preprocessing/image.py, white_list_formats: without dots.
constexpr auto kKerasFlow = std::to_array<Words>({"png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff"});
// The default of file_filters of DALI's readers.file, globs "*.jpg" and so on in any case.
constexpr auto kDali = std::to_array<Words>({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pnm", ".ppm", ".pgm",
                                             ".pbm", ".jp2", ".webp", ".flac", ".ogg", ".wav"});
// ultralytics/data/utils.py, IMG_FORMATS, with what was added and taken out over time.
constexpr auto kUltralytics = std::to_array<Words>({".bmp", ".dng", ".jpeg", ".jpg", ".mpo", ".png", ".tif", ".tiff",
                                                    ".webp", ".pfm", ".heic", ".heif", ".avif", ".jp2", ".jpeg2000"});

// fastai/data/transforms.py, image_extensions: Python's table of types, of 3.13.
constexpr auto kFastai = std::to_array<Words>({".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".ief", ".jpe",
                                               ".jpeg", ".jpg", ".pbm", ".pgm",  ".png",  ".pnm", ".ppm", ".ras",
                                               ".rgb",  ".svg", ".tif", ".tiff", ".webp", ".xbm", ".xpm", ".xwd"});

using enum SampleWalk;
using enum ExtensionMatch;
constexpr auto kTaken = HiddenNames::kTaken;
constexpr auto kClassesLeftOut = HiddenNames::kClassesLeftOut;
constexpr auto kLeftOut = HiddenNames::kLeftOut;

// The order is that in which they are tried: how many scripts use them. Of lists that are equal the first gives its
// name. Those with an extension are made for each extension that was seen.
constexpr auto kRows = std::to_array<SampleRuleRow>({
    {"torchvision ImageFolder", kClasses, kEnding, kTorchvision, kTaken, true},
    {"timm ImageFolder", kNatural, kSplit, kTimm, kTaken, true},
    {"Keras image_dataset_from_directory", kClasses, kEnding, kKeras, kClassesLeftOut, false},
    {"Ultralytics", kPathText, kEnding, kUltralytics, kLeftOut, true},
    {"DALI readers.file", kOneLevel, kEnding, kDali, kTaken, false},
    {"torchvision DatasetFolder", kClasses, kOneFolded, {}, kTaken, true},
    {"sorted glob", kPathText, kOne, {}, kLeftOut, true},
    {"sorted rglob", kPathParts, kOne, {}, kTaken, false},
    {"Keras flow_from_directory", kClasses, kEnding, kKerasFlow, kTaken, false},
    {"Keras image_dataset_from_directory without labels", kSortedWalk, kEnding, kKeras, kTaken, false},
    {"torchvision ImageFolder up to 0.8", kClasses, kEnding, kOldTorchvision, kTaken, true},
    {"sorted glob of all files", kPathText, kAll, {}, kTaken, true},
    {"path order of all files", kPathParts, kAll, {}, kTaken, false},
    {"path order of images", kPathParts, kEnding, kTorchvision, kTaken, false},
    {"fastai get_image_files", kTopDown, kEnding, kFastai, kLeftOut, true},
    {"os.walk of all files", kTopDown, kAll, {}, kTaken, false},
    {"os.walk of images", kTopDown, kEnding, kTorchvision, kTaken, false},
    {"os.walk", kTopDown, kOne, {}, kTaken, false},
    {"sorted os.walk", kSortedWalk, kOne, {}, kTaken, false},
    {"Keras dataset_from_directory", kClasses, kOneFolded, {}, kClassesLeftOut, false},
    {"DALI readers.file", kOneLevel, kOneFolded, {}, kTaken, false},
    {"DALI readers.numpy", kRootAndOneLevel, kOne, {}, kTaken, false},
});

}  // namespace

std::span<const SampleRuleRow> SampleRuleRows() { return kRows; }

std::optional<SampleRule> SampleRule::Find(std::string_view name) {
  for (const SampleRuleRow& row : kRows) {
    if (!name.starts_with(row.name)) continue;
    const std::string_view rest = name.substr(row.name.size());
    if (!HasExtension(row)) {
      if (rest.empty()) return SampleRule(&row);
    } else if (rest.size() > 2 && rest.starts_with(" .")) {
      return SampleRule(&row, rest.substr(1));
    }
  }
  return std::nullopt;
}

std::string SampleRule::name() const {
  std::string text(row_->name);
  return extension_.empty() ? text : text + " " + extension_;
}

bool SampleRule::Takes(const FileKind& kind) const {
  if (kind.hidden && row_->hidden == kLeftOut) return false;
  switch (row_->match) {
    case kAll: return true;
    case kOne: return kind.suffix.ends_with(extension_);
    case kOneFolded: return FoldAscii(kind.suffix).ends_with(FoldAscii(extension_));
    case kSplit:
      if (kind.only_dots) return false;
      [[fallthrough]];
    case kEnding: {
      const std::string suffix = FoldAscii(kind.suffix);
      return std::any_of(row_->extensions.begin(), row_->extensions.end(),
                         [&](Words word) { return row_->match == kSplit ? suffix == word : suffix.ends_with(word); });
    }
  }
  AUGUR_CHECK(false);
  return false;
}

bool IsNamedExtension(std::string_view suffix) {
  const std::string folded = FoldAscii(suffix);
  return std::any_of(kRows.begin(), kRows.end(), [&](const SampleRuleRow& row) {
    return std::any_of(row.extensions.begin(), row.extensions.end(),
                       [&](Words word) { return !folded.empty() && folded.ends_with(word); });
  });
}

std::string FoldAscii(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return folded;
}

}  // namespace augur
