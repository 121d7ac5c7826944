// SPDX-License-Identifier: Apache-2.0
#include "views/view_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/excerpt.h"
#include "base/nearest.h"
#include "base/units.h"
#include "views/geometry.h"
#include "views/spec_number.h"

namespace augur {
namespace {

constexpr uint32_t kSideMax = 65'535;

enum class Of { kBoth, kNpy, kPixels };

// The one list of words: what is accepted, what the errors say and what --help prints.
struct Word {
  std::string_view name;
  std::string_view form;  // as it is typed
  Of of;
  std::string_view meaning;
};

enum WordNumber : size_t {
  kSize,
  kFit,
  kFilter,
  kPasses,
  kFast,
  kCrop,
  kTolerant,
  kLayout,
  kDtype,
  kMean,
  kStd,
  kAs,
  kAll,
  kNames,
  kWordCount,
};

constexpr std::array<Word, kWordCount> kWords = {{
    {"size", "size=N|WxH", Of::kBoth, "resize, sides from 1 to 65535; N is the shorter side (torchvision's Resize)"},
    {"fit", "fit=short|long|squash", Of::kBoth, "with size: cover it, stay inside it, or take it as it is"},
    {"filter", "filter=bilinear|bicubic|lanczos", Of::kBoth, "with size: Pillow's filter"},
    {"passes", "passes=pillow12|pillow13", Of::kBoth, "with size: which pass first, as that Pillow has it"},
    {"fast", "fast", Of::kBoth, "with size: JPEGs may be decoded smaller; the pixels differ a little"},
    {"crop", "crop=N", Of::kBoth, "N x N pixels around the middle (torchvision's CenterCrop)"},
    {"tolerant", "tolerant", Of::kBoth, "truncated JPEGs as Pillow with LOAD_TRUNCATED_IMAGES, not an error"},
    {"layout", "layout=hwc|chw", Of::kNpy, "order of the axes"},
    {"dtype", "dtype=u8|f32", Of::kNpy, "f32: pixel / 255 (torchvision's ToTensor)"},
    {"mean", "mean=A_B_C", Of::kNpy, "with dtype=f32, from 0 to 1: is subtracted (torchvision's Normalize)"},
    {"std", "std=A_B_C", Of::kNpy, "with dtype=f32, above 0, at most 1: divides the difference"},
    {"as", "as=png|ppm|bmp", Of::kPixels, "the container"},
    {"all", "all", Of::kPixels, "PNGs become pixels, too"},
    {"names", "names=own", Of::kPixels, "names end as the container's do, not as they were"},
}};

// The named values of a word; the first is what is so anyway.
template <typename Value, size_t kCount>
using Choices = std::array<std::pair<std::string_view, Value>, kCount>;

constexpr Choices<Fit, 3> kFits = {{{"short", Fit::kShort}, {"long", Fit::kLong}, {"squash", Fit::kSquash}}};
constexpr Choices<ResizeFilter, 3> kFilters = {
    {{"bilinear", ResizeFilter::kBilinear}, {"bicubic", ResizeFilter::kBicubic}, {"lanczos", ResizeFilter::kLanczos}}};
constexpr Choices<PassOrder, 2> kPassOrders = {
    {{"pillow12", PassOrder::kPillow12}, {"pillow13", PassOrder::kPillow13}}};
constexpr Choices<ArrayLayout, 2> kLayouts = {{{"hwc", ArrayLayout::kHwc}, {"chw", ArrayLayout::kChw}}};
constexpr Choices<ArrayType, 2> kTypes = {{{"u8", ArrayType::kU8}, {"f32", ArrayType::kF32}}};
constexpr Choices<PixelContainer, 3> kContainers = {
    {{"png", PixelContainer::kPng}, {"ppm", PixelContainer::kPpm}, {"bmp", PixelContainer::kBmp}}};
constexpr Choices<bool, 1> kOwn = {{{"own", true}}};

std::string Accepted(const Word& word) {
  return "; accepted: " + std::string(word.form) + ", " + std::string(word.meaning);
}

// What was typed, word by word. The values point into the SPEC.
class TypedSpec {
 public:
  Status Read(std::string_view text) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('+', begin), text.size());
      AUGUR_TRY(Take(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (kind_) return CheckKinds();
    return {Code::kInvalid, "it says neither npy nor pixels; accepted: npy or pixels, and words joined by +"};
  }

  ViewKind kind() const { return kind_.value_or(ViewKind::kNpy); }
  bool Has(WordNumber word) const { return values_[word].has_value(); }
  std::string_view Value(WordNumber word) const { return values_[word].value_or(std::string_view()); }

  // The error of a word: "size=0: cause; accepted: ...".
  Status Wrong(WordNumber number, std::string_view cause) const {
    const Word& word = kWords[number];
    std::string text(word.name);
    if (word.form != word.name) text += "=" + Printable(Value(number));
    return {Code::kInvalid, text + ": " + std::string(cause) + Accepted(word)};
  }

  // Sets `out` to the named value, and leaves it as it is when the word is not there.
  template <typename Value, size_t kCount>
  Status Choose(WordNumber word, const Choices<Value, kCount>& choices, Value* out) const {
    if (!Has(word)) return {};
    const auto* const found = std::ranges::find(choices, this->Value(word), &std::pair<std::string_view, Value>::first);
    if (found == choices.end()) {
      std::vector<std::string_view> values;
      for (const auto& [name, value] : choices) values.push_back(name);
      const std::string_view near = NearestWord(this->Value(word), values);
      const std::string advice = near.empty() ? "" : "; did you mean " + std::string(near) + "?";
      return Wrong(word, "not one of its values" + advice);
    }
    *out = found->second;
    return {};
  }

 private:
  Status Take(std::string_view typed) {
    if (typed.empty()) return {Code::kInvalid, "an empty word; accepted: words joined by one +"};
    if (typed == "npy" || typed == "pixels") {
      if (kind_) return {Code::kInvalid, std::string(typed) + ": a second kind; accepted: npy or pixels, once"};
      kind_ = typed == "npy" ? ViewKind::kNpy : ViewKind::kPixels;
      return {};
    }
    const size_t sign = typed.find('=');
    const auto* const word = std::ranges::find(kWords, typed.substr(0, sign), &Word::name);
    if (word == kWords.end()) {
      return {Code::kInvalid, Excerpt(typed) + ": not a word of a view" + DidYouMean(typed) + "; accepted: " + Forms()};
    }
    const bool wants_value = word->form != word->name;
    if (wants_value != (sign != std::string_view::npos)) {
      return {Code::kInvalid,
              Excerpt(typed) + (wants_value ? ": its value is missing" : ": it has no value") + Accepted(*word)};
    }
    std::optional<std::string_view>& value = values_[word - kWords.begin()];
    if (value) return {Code::kInvalid, Excerpt(typed) + ": given twice; accepted: each word once"};
    value = wants_value ? typed.substr(sign + 1) : std::string_view();
    return {};
  }

  // "; did you mean size=256?": the word that was mistyped, with what stands behind it. Empty: none is near.
  static std::string DidYouMean(std::string_view typed) {
    const size_t end = std::min(typed.find('='), typed.size());
    std::vector<std::string_view> names = {"npy", "pixels"};
    for (const Word& word : kWords) names.push_back(word.name);
    const std::string_view near = NearestWord(typed.substr(0, end), names);
    if (near.empty()) return {};
    return "; did you mean " + std::string(near) + Excerpt(typed.substr(end)) + "?";
  }

  static std::string Forms() {
    std::string forms = "npy or pixels";
    for (const Word& word : kWords) forms.append(", ").append(word.form);
    return forms;
  }

  Status CheckKinds() const {
    const Of mine = kind() == ViewKind::kNpy ? Of::kNpy : Of::kPixels;
    for (size_t number = 0; number < kWordCount; ++number) {
      if (!values_[number] || kWords[number].of == Of::kBoth || kWords[number].of == mine) continue;
      return Wrong(static_cast<WordNumber>(number), mine == Of::kNpy ? "only for pixels" : "only for npy");
    }
    return {};
  }

  std::optional<ViewKind> kind_;
  std::array<std::optional<std::string_view>, kWordCount> values_;
};

std::optional<uint32_t> ParseSide(std::string_view text) {
  const Result<uint64_t> side = ParseCount(text);
  if (!side.ok() || *side < 1 || *side > kSideMax) return std::nullopt;
  return static_cast<uint32_t>(*side);
}

Status ReadSize(const TypedSpec& typed, ViewSpec* spec) {
  if (!typed.Has(kSize)) {
    for (const WordNumber word : {kFit, kFilter, kPasses, kFast}) {
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

Status ReadCrop(const TypedSpec& typed, ViewSpec* spec) {
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
Status ReadTriple(const TypedSpec& typed, WordNumber word, std::array<float, 3>* out) {
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

Status ReadNpy(const TypedSpec& typed, ViewSpec* spec) {
  AUGUR_TRY(typed.Choose(kLayout, kLayouts, &spec->array.layout));
  AUGUR_TRY(typed.Choose(kDtype, kTypes, &spec->array.type));
  for (const WordNumber word : {kMean, kStd}) {
    if (typed.Has(word) && spec->array.type != ArrayType::kF32) return typed.Wrong(word, "there is no dtype=f32");
  }
  AUGUR_TRY(ReadTriple(typed, kMean, &spec->array.mean));
  return ReadTriple(typed, kStd, &spec->array.std);
}

Status ReadPixels(const TypedSpec& typed, ViewSpec* spec) {
  AUGUR_TRY(typed.Choose(kAs, kContainers, &spec->as));
  spec->all = typed.Has(kAll);
  return typed.Choose(kNames, kOwn, &spec->own_names);
}

Status ReadSpec(std::string_view text, ViewSpec* spec) {
  if (text.size() > kViewSpecBytesMax) return {Code::kInvalid, "longer than 255 bytes; accepted: words joined by +"};
  TypedSpec typed;
  AUGUR_TRY(typed.Read(text));
  spec->kind = typed.kind();
  AUGUR_TRY(ReadSize(typed, spec));
  AUGUR_TRY(ReadCrop(typed, spec));
  spec->tolerant = typed.Has(kTolerant);
  return spec->kind == ViewKind::kNpy ? ReadNpy(typed, spec) : ReadPixels(typed, spec);
}

// Builds the canonical form.
class SpecText {
 public:
  explicit SpecText(std::string_view kind) : text_(kind) {}

  void Add(WordNumber word, std::string_view value) {
    text_.append("+").append(kWords[word].name).append("=").append(value);
  }
  void Flag(WordNumber word, bool there) {
    if (there) text_.append("+").append(kWords[word].name);
  }
  template <typename Value, size_t kCount>
  void Choice(WordNumber word, const Choices<Value, kCount>& choices, Value value, Value anyway) {
    if (value == anyway) return;
    Add(word, std::ranges::find(choices, value, &std::pair<std::string_view, Value>::second)->first);
  }
  void Triple(WordNumber word, const std::array<float, 3>& numbers, float anyway) {
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

std::string BuildGrammar() {
  std::string text = "A view is npy or pixels and any of these words, joined by + in any order:\n";
  for (const Word& word : kWords) {
    constexpr size_t kColumn = 34;
    std::string line = "  " + std::string(word.form);
    line.resize(std::max(kColumn, line.size() + 1), ' ');
    if (word.of != Of::kBoth) line += word.of == Of::kNpy ? "npy: " : "pixels: ";
    text.append(line).append(word.meaning).append("\n");
  }
  return text + "The first word of each list is the default; size=WxH implies fit=squash.\n";
}

}  // namespace

std::string_view ViewGrammar() {
  static const std::string text = BuildGrammar();
  return text;
}

Result<ViewSpec> ParseViewSpec(std::string_view text) {
  ViewSpec spec;
  if (Status status = ReadSpec(text, &spec); !status.ok()) {
    constexpr size_t kEchoedMax = 2 * kViewSpecBytesMax;
    return status.In("view '" + Printable(text.substr(0, kEchoedMax)) + "'");
  }
  return spec;
}

std::string CanonicalSpec(const ViewSpec& spec) {
  const bool npy = spec.kind == ViewKind::kNpy;
  SpecText text(npy ? "npy" : "pixels");
  if (spec.size) AddSize(*spec.size, &text);
  text.Choice(kFilter, kFilters, spec.filter, ResizeFilter::kBilinear);
  text.Choice(kPasses, kPassOrders, spec.passes, PassOrder::kPillow12);
  text.Flag(kFast, spec.fast);
  if (spec.crop > 0) text.Add(kCrop, std::to_string(spec.crop));
  text.Flag(kTolerant, spec.tolerant);
  text.Choice(kLayout, kLayouts, spec.array.layout, ArrayLayout::kHwc);
  text.Choice(kDtype, kTypes, spec.array.type, ArrayType::kU8);
  text.Triple(kMean, spec.array.mean, 0);
  text.Triple(kStd, spec.array.std, 1);
  text.Choice(kAs, kContainers, spec.as, PixelContainer::kPng);
  text.Flag(kAll, spec.all);
  if (spec.own_names) text.Add(kNames, "own");
  return text.Take();
}

}  // namespace augur
