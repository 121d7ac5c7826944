// SPDX-License-Identifier: Apache-2.0
#include "views/view_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.h"
#include "views/geometry.h"
#include "views/spec_number.h"
#include "views/spec_words.h"

namespace augur {
namespace {

using enum SpecWord;

constexpr uint32_t kSideMax = 65'535;

constexpr Choices<Fit, 3> kFits = {{{"short", Fit::kShort}, {"long", Fit::kLong}, {"squash", Fit::kSquash}}};
constexpr Choices<ResizeFilter, 3> kFilters = {
    {{"bilinear", ResizeFilter::kBilinear}, {"bicubic", ResizeFilter::kBicubic}, {"lanczos", ResizeFilter::kLanczos}}};
constexpr Choices<PassOrder, 2> kPassOrders = {
    {{"pillow12", PassOrder::kPillow12}, {"pillow13", PassOrder::kPillow13}}};
constexpr Choices<ArrayLayout, 2> kLayouts = {{{"hwc", ArrayLayout::kHwc}, {"chw", ArrayLayout::kChw}}};
constexpr Choices<ArrayType, 2> kTypes = {{{"u8", ArrayType::kU8}, {"f32", ArrayType::kF32}}};
constexpr Choices<PtItem, 3> kItems = {{{"tensor", PtItem::kTensor}, {"pair", PtItem::kPair}, {"dict", PtItem::kDict}}};
constexpr Choices<PixelContainer, 3> kContainers = {
    {{"png", PixelContainer::kPng}, {"ppm", PixelContainer::kPpm}, {"bmp", PixelContainer::kBmp}}};
constexpr Choices<ExampleKeys, 2> kExampleKeys = {{{"imagenet", ExampleKeys::kImagenet}, {"tfds", ExampleKeys::kTfds}}};
constexpr Choices<uint32_t, 2> kBases = {{{"0", 0}, {"1", 1}}};
constexpr Choices<bool, 1> kOwn = {{{"own", true}}};
constexpr Choices<ZarrFormat, 2> kZarrFormats = {{{"3", ZarrFormat::k3}, {"2", ZarrFormat::k2}}};

std::optional<uint32_t> ParseSide(std::string_view text) {
  const Result<uint64_t> side = ParseCount(text);
  if (!side.ok() || *side < 1 || *side > kSideMax) return std::nullopt;
  return static_cast<uint32_t>(*side);
}

Status ReadSize(const SpecWords& typed, ViewSpec* spec) {
  if (!typed.Has(kSize)) {
    for (const SpecWord word : {kFit, kFilter, kPasses, kFast}) {
      if (typed.Has(word)) return typed.Wrong(word, "it says how to resize, and there is no size");
    }
    return {};
  }
  const std::string_view text = typed.Value(kSize);
  const size_t x = text.find('x');
  const std::optional<uint32_t> width = ParseSide(text.substr(0, x));
  const std::optional<uint32_t> height = x == std::string_view::npos ? width : ParseSide(text.substr(x + 1));
  if (!width || !height) return typed.Wrong(kSize, "not one or two numbers from 1 to 65535");
  ResizeTarget target{
      .width = *width, .height = *height, .fit = x == std::string_view::npos ? Fit::kShort : Fit::kSquash};
  AUGUR_TRY(typed.Choose(kFit, kFits, &target.fit));
  // What covers the target has at least its pixels; what stays inside it may have fewer.
  if (target.fit != Fit::kLong && ImageExtent{.width = *width, .height = *height}.pixels() > kImagePixelsMax) {
    return typed.Wrong(kSize, "more than " + std::to_string(kImagePixelsMax) + " pixels");
  }
  spec->size = target;
  AUGUR_TRY(typed.Choose(kFilter, kFilters, &spec->filter));
  AUGUR_TRY(typed.Choose(kPasses, kPassOrders, &spec->passes));
  spec->fast = typed.Has(kFast);
  return {};
}

Status ReadCrop(const SpecWords& typed, ViewSpec* spec) {
  if (!typed.Has(kCrop)) return {};
  const std::optional<uint32_t> side = ParseSide(typed.Value(kCrop));
  if (!side) return typed.Wrong(kCrop, "not a number from 1 to 65535");
  if (ImageExtent{.width = *side, .height = *side}.pixels() > kImagePixelsMax) {
    return typed.Wrong(kCrop, "more than " + std::to_string(kImagePixelsMax) + " pixels");
  }
  spec->crop = *side;
  return {};
}

// Three numbers of 0 to 1.
Status ReadTriple(const SpecWords& typed, SpecWord word, std::array<float, 3>* out) {
  if (!typed.Has(word)) return {};
  std::string_view rest = typed.Value(word);
  for (size_t i = 0; i < 3; ++i) {
    const size_t end = i < 2 ? rest.find('_') : rest.size();
    if (end == std::string_view::npos) return typed.Wrong(word, "not three numbers joined by _");
    const std::optional<float> number = ParseSpecNumber(rest.substr(0, end));
    if (!number) return typed.Wrong(word, "not three decimal numbers of at most 24 characters joined by _");
    if (*number > 1) return typed.Wrong(word, "above 1: it is on the scale of ToTensor, where 255 is 1");
    if (word == kStd && *number == 0) return typed.Wrong(word, "it divides, and is 0 in float32");
    (*out)[i] = *number;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return {};
}

// torch has the channels first.
ArrayLayout UsualLayout(ViewKind kind) { return kind == ViewKind::kPt ? ArrayLayout::kChw : ArrayLayout::kHwc; }

Status ReadArray(const SpecWords& typed, ViewSpec* spec) {
  spec->array.layout = UsualLayout(spec->kind);
  AUGUR_TRY(typed.Choose(kLayout, kLayouts, &spec->array.layout));
  AUGUR_TRY(typed.Choose(kDtype, kTypes, &spec->array.type));
  AUGUR_TRY(typed.Choose(kItem, kItems, &spec->item));
  for (const SpecWord word : {kMean, kStd}) {
    if (typed.Has(word) && spec->array.type != ArrayType::kF32) return typed.Wrong(word, "there is no dtype=f32");
  }
  AUGUR_TRY(ReadTriple(typed, kMean, &spec->array.mean));
  return ReadTriple(typed, kStd, &spec->array.std);
}

// A number of images that lie in one file. Leaves `out` as it is when the word is not there.
Status ReadImageCount(const SpecWords& typed, SpecWord word, uint32_t* out) {
  if (!typed.Has(word)) return {};
  constexpr uint32_t kImagesMax = 65'536;
  const Result<uint64_t> count = ParseCount(typed.Value(word));
  if (!count.ok() || *count < 1 || *count > kImagesMax) return typed.Wrong(word, "not a number from 1 to 65536");
  *out = static_cast<uint32_t>(*count);
  return {};
}

// Arrays that lie in one file must have one shape.
Status ReadStack(const SpecWords& typed, ViewSpec* spec) {
  AUGUR_TRY(ReadArray(typed, spec));
  spec->archive.encoded = typed.Has(kEncoded);
  AUGUR_TRY(typed.Choose(kFormat, kZarrFormats, &spec->archive.format));
  AUGUR_TRY(ReadImageCount(typed, kChunk, &spec->archive.chunk));
  AUGUR_TRY(ReadImageCount(typed, kShard, &spec->archive.shard_images));
  if (typed.Has(kShard)) {
    if (spec->archive.format == ZarrFormat::k2) {
      return typed.Wrong(kShard, "format=2 has no shards: leave format=2 out, or shard");
    }
    if (spec->archive.shard_images % spec->archive.chunk != 0) {
      return typed.Wrong(kShard, "a shard has whole chunks, and this is no multiple of chunk");
    }
  }
  if (FixedExtent(*spec)) return {};
  constexpr std::array kOfPixels = {kSize, kTolerant, kLayout, kDtype};
  const bool wants_pixels = std::ranges::any_of(kOfPixels, [&](SpecWord word) { return typed.Has(word); });
  if (spec->archive.encoded && !wants_pixels) return {};
  const std::string_view missing =
      spec->size ? "crop is missing: with this size images have different shapes, and here all must have one"
                 : "size is missing: all images must have one shape here";
  return {Code::kInvalid, std::string(missing) + "; accepted: size=WxH, size=N+fit=squash, size=N+crop=M, or crop=M"};
}

Status ReadPixels(const SpecWords& typed, ViewSpec* spec) {
  AUGUR_TRY(typed.Choose(kAs, kContainers, &spec->as));
  spec->all = typed.Has(kAll);
  return typed.Choose(kNames, kOwn, &spec->own_names);
}

Status ReadArchive(const SpecWords& typed, ArchiveSpec* spec) {
  if (typed.Has(kShards)) {
    const Result<uint64_t> shards = ParseCount(typed.Value(kShards));
    if (!shards.ok() || *shards < 1 || *shards > ArchiveSpec::kShardsMax) {
      return typed.Wrong(kShards, "not a number from 1 to 99999");
    }
    spec->shards = static_cast<uint32_t>(*shards);
  }
  if (typed.Has(kShard)) {
    if (typed.Has(kShards)) return typed.Wrong(kShard, "shards says already how many there are");
    const Result<uint64_t> bytes = ParseSize(typed.Value(kShard));
    if (!bytes.ok() || *bytes == 0) return typed.Wrong(kShard, "not a size above 0");
    spec->shard_bytes = *bytes;
  }
  AUGUR_TRY(typed.Choose(kKeys, kExampleKeys, &spec->keys));
  if (typed.Has(kName)) {
    constexpr size_t kNameMax = 64;
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const std::string_view name = typed.Value(kName);
    const bool is_good = !name.empty() && name.size() <= kNameMax && name[0] != '.' &&
                         name.find_first_not_of(kLetters) == std::string_view::npos;
    if (!is_good) return typed.Wrong(kName, "not 1 to 64 letters, digits, '_' and '.'");
    spec->name = name;
  } else if (spec->keys == ExampleKeys::kTfds) {
    return typed.Wrong(kKeys, "TFDS finds a data set by its name, and there is no name=N");
  }
  if (typed.Has(kBase)) {
    uint32_t base = 0;
    AUGUR_TRY(typed.Choose(kBase, kBases, &base));
    if (base != spec->label_base()) spec->base = base;
  }
  if (typed.Has(kShuffle)) {
    const Result<uint64_t> seed = ParseCount(typed.Value(kShuffle));
    if (!seed.ok() || *seed > UINT32_MAX) return typed.Wrong(kShuffle, "not a number from 0 to 4294967295");
    spec->shuffle = static_cast<uint32_t>(*seed);
  }
  return {};
}

Status ReadSpec(std::string_view text, ViewSpec* spec) {
  if (text.size() > kViewSpecBytesMax) return {Code::kInvalid, "longer than 255 bytes; accepted: words joined by +"};
  SpecWords typed;
  AUGUR_TRY(typed.Read(text));
  spec->kind = typed.kind();
  AUGUR_TRY(ReadSize(typed, spec));
  AUGUR_TRY(ReadCrop(typed, spec));
  spec->tolerant = typed.Has(kTolerant);
  switch (spec->kind) {
    case ViewKind::kNpy:
    case ViewKind::kPt: return ReadArray(typed, spec);
    case ViewKind::kPixels: return ReadPixels(typed, spec);
    case ViewKind::kTar:
    case ViewKind::kTfrecord:
    case ViewKind::kMds: return ReadArchive(typed, &spec->archive);
    case ViewKind::kH5:
    case ViewKind::kZarr: return ReadStack(typed, spec);
  }
  return {};
}

// Builds the canonical form.
class SpecText {
 public:
  explicit SpecText(std::string_view kind) : text_(kind) {}

  void Add(SpecWord word, std::string_view value) { text_.append("+").append(NameOf(word)).append("=").append(value); }
  void Flag(SpecWord word, bool there) {
    if (there) text_.append("+").append(NameOf(word));
  }
  template <typename Value, size_t kCount>
  void Choice(SpecWord word, const Choices<Value, kCount>& choices, Value value, Value anyway) {
    if (value == anyway) return;
    Add(word, std::ranges::find(choices, value, &std::pair<std::string_view, Value>::second)->first);
  }
  void Triple(SpecWord word, const std::array<float, 3>& numbers, float anyway) {
    if (std::ranges::count(numbers, anyway) == 3) return;
    Add(word, FormatSpecNumber(numbers[0]) + "_" + FormatSpecNumber(numbers[1]) + "_" + FormatSpecNumber(numbers[2]));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddSize(const ResizeTarget& target, SpecText* text) {
  // A square target is that of size=N, unless N x N is what every image becomes.
  const bool one_number = target.width == target.height && target.fit != Fit::kSquash;
  std::string size = std::to_string(target.width);
  if (!one_number) size += "x" + std::to_string(target.height);
  text->Add(kSize, size);
  text->Choice(kFit, kFits, target.fit, one_number ? Fit::kShort : Fit::kSquash);
}

// The size in the largest unit that divides it, as it is typed.
std::string SizeWord(uint64_t bytes) {
  for (const auto& [unit, letter] : {std::pair(kGiB, "G"), std::pair(kMiB, "M"), std::pair(kKiB, "K")}) {
    if (bytes % unit == 0) return std::to_string(bytes / unit) + letter;
  }
  return std::to_string(bytes);
}

}  // namespace

Result<ViewSpec> ParseViewSpec(std::string_view text) {
  ViewSpec spec;
  if (Status status = ReadSpec(text, &spec); !status.ok()) {
    constexpr size_t kEchoedMax = 2 * kViewSpecBytesMax;
    return status.In("view '" + Printable(text.substr(0, kEchoedMax)) + "'");
  }
  return spec;
}

std::string CanonicalSpec(const ViewSpec& spec) {
  SpecText text(NameOf(spec.kind));
  if (spec.size) AddSize(*spec.size, &text);
  text.Choice(kFilter, kFilters, spec.filter, ResizeFilter::kBilinear);
  text.Choice(kPasses, kPassOrders, spec.passes, PassOrder::kPillow12);
  text.Flag(kFast, spec.fast);
  if (spec.crop > 0) text.Add(kCrop, std::to_string(spec.crop));
  text.Flag(kTolerant, spec.tolerant);
  text.Choice(kLayout, kLayouts, spec.array.layout, UsualLayout(spec.kind));
  text.Choice(kDtype, kTypes, spec.array.type, ArrayType::kU8);
  text.Triple(kMean, spec.array.mean, 0);
  text.Triple(kStd, spec.array.std, 1);
  text.Choice(kItem, kItems, spec.item, PtItem::kTensor);
  text.Choice(kAs, kContainers, spec.as, PixelContainer::kPng);
  text.Flag(kAll, spec.all);
  if (spec.own_names) text.Add(kNames, "own");
  if (spec.archive.shards > 0) text.Add(kShards, std::to_string(spec.archive.shards));
  if (spec.archive.shard_bytes > 0) text.Add(kShard, SizeWord(spec.archive.shard_bytes));
  if (spec.archive.shard_images > 0) text.Add(kShard, std::to_string(spec.archive.shard_images));
  text.Choice(kKeys, kExampleKeys, spec.archive.keys, ExampleKeys::kImagenet);
  if (!spec.archive.name.empty()) text.Add(kName, spec.archive.name);
  if (spec.archive.base) text.Add(kBase, std::to_string(*spec.archive.base));
  if (spec.archive.shuffle) text.Add(kShuffle, std::to_string(*spec.archive.shuffle));
  text.Flag(kEncoded, spec.archive.encoded);
  text.Choice(kFormat, kZarrFormats, spec.archive.format, ZarrFormat::k3);
  if (spec.archive.chunk != 1) text.Add(kChunk, std::to_string(spec.archive.chunk));
  return text.Take();
}

}  // namespace augur
