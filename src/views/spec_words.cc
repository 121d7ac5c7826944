// SPDX-License-Identifier: Apache-2.0
#include "views/spec_words.h"

#include "base/excerpt.h"
#include "base/nearest.h"
#include "base/units.h"

namespace augur {
namespace {

// The kinds that have a word: one bit each.
enum Of : unsigned {
  kNpy = 1,
  kPt = 2,
  kFiles = kNpy | kPt,
  kPixels = 4,
  kImages = kFiles | kPixels,
  kTar = 8,
  kTfrecord = 16,
  kMds = 32,
  kSharded = kTar | kTfrecord | kMds,
  kH5 = 64,
  kZarr = 128,
  kTarOrZarr = kTar | kZarr,
  kStacked = kH5 | kZarr,
  kArrays = kFiles | kStacked,
  kDecoded = kImages | kStacked
};

struct Kind {
  std::string_view name;
  ViewKind kind;
  Of of;
  std::string_view meaning;
};

constexpr std::array kKinds = {
    Kind{"npy", ViewKind::kNpy, kNpy, "arrays for np.load: x.JPEG is x.npy"},
    Kind{"pt", ViewKind::kPt, kPt, "tensors for torch.load: x.JPEG is x.pt"},
    Kind{"pixels", ViewKind::kPixels, kPixels, "decoded images under their own names"},
    Kind{"tar", ViewKind::kTar, kTar, "for each folder X the tar files X-000000.tar, X-000001.tar, ... of WebDataset"},
    Kind{"tfrecord", ViewKind::kTfrecord, kTfrecord,
         "for each folder X the TFRecord files X-00000-of-0000S, and X-00000-of-0000S.idx"},
    Kind{"mds", ViewKind::kMds, kMds, "for each folder X the folder X.mds for MosaicML's StreamingDataset"},
    Kind{"h5", ViewKind::kH5, kH5, "for each folder X the HDF5 file X.h5 with the datasets images and labels"},
    Kind{"zarr", ViewKind::kZarr, kZarr, "for each folder X the Zarr group X.zarr with the arrays images and labels"},
};

const Kind& KindOf(ViewKind kind) { return *std::ranges::find(kKinds, kind, &Kind::kind); }

std::string KindNames(unsigned of) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) {
    if ((kind.of & of) != 0) names.push_back(kind.name);
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

// The one list of words: what is accepted, what the errors say and what --help prints.
struct Word {
  std::string_view name;
  std::string_view form;  // as it is typed
  Of of;
  std::string_view meaning;
};

constexpr std::array<Word, kSpecWordCount> kWords = {{
    {"size", "size=N|WxH", kDecoded, "resize, sides from 1 to 65535; N is the shorter side (torchvision's Resize)"},
    {"fit", "fit=short|long|squash", kDecoded, "with size: cover it, stay inside it, or take it as it is"},
    {"filter", "filter=bilinear|bicubic|lanczos", kDecoded, "with size: Pillow's filter"},
    {"passes", "passes=pillow12|pillow13", kDecoded, "with size: which pass first, as that Pillow has it"},
    {"fast", "fast", kDecoded, "with size: JPEGs may be decoded smaller; the pixels differ a little"},
    {"crop", "crop=N", kDecoded, "N x N pixels around the middle (torchvision's CenterCrop)"},
    {"tolerant", "tolerant", kDecoded, "truncated JPEGs as Pillow with LOAD_TRUNCATED_IMAGES, not an error"},
    {"layout", "layout=hwc|chw", kArrays, "order of the axes; of pt chw is the default"},
    {"dtype", "dtype=u8|f32", kArrays, "f32: pixel / 255 (torchvision's ToTensor)"},
    {"mean", "mean=A_B_C", kArrays, "with dtype=f32, from 0 to 1: subtracted (torchvision's Normalize)"},
    {"std", "std=A_B_C", kArrays, "with dtype=f32, above 0, at most 1: divides the difference"},
    {"item", "item=tensor|pair|dict", kPt, "a tensor, (tensor, label), or a dict of image and label"},
    {"as", "as=png|ppm|bmp", kPixels, "the format of the files"},
    {"all", "all", kPixels, "PNGs are decoded, too, not JPEGs alone"},
    {"names", "names=own", kPixels, "names end as the format's do (x.png), not as they were"},
    {"shards", "shards=S", kSharded, "files for each folder, 1 to 99999; else of about 128M each"},
    {"shard", "shard=SIZE|S", kTarOrZarr, "files of at most SIZE (64M, 1G), of one image at least; zarr: of S images"},
    {"keys", "keys=imagenet|tfds", kTfrecord, "features as TensorFlow's ImageNet scripts, or as TFDS, have them"},
    {"name", "name=N", kTfrecord, "imagenet: what the files of folder val are called by; tfds: the data set"},
    {"base", "base=0|1", kTfrecord, "the label of the first class; else 1 for imagenet, 0 for tfds"},
    {"shuffle", "shuffle=SEED", kSharded, "the order that Python's random.Random(SEED).shuffle() makes"},
    {"encoded", "encoded", kH5, "the images' files as they are, too, as dataset encoded; without size: these alone"},
    {"format", "format=3|2", kZarr, "the version of the format"},
    {"chunk", "chunk=B", kZarr, "images in a file, from 1 to 65536; else 1"},
}};

const Word& WordOf(SpecWord word) { return kWords[static_cast<size_t>(word)]; }

std::string Accepted(const Word& word) {
  return "; accepted: " + std::string(word.form) + ", " + std::string(word.meaning);
}

// "; did you mean size=256?": the word that was mistyped, with what stands behind it. Empty: none is near.
std::string DidYouMean(std::string_view typed) {
  const size_t end = std::min(typed.find('='), typed.size());
  std::vector<std::string_view> names;
  names.reserve(kKinds.size() + kWords.size());
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  for (const Word& word : kWords) names.push_back(word.name);
  const std::string_view near = NearestWord(typed.substr(0, end), names);
  if (near.empty()) return {};
  return "; did you mean " + std::string(near) + Excerpt(typed.substr(end)) + "?";
}

std::string Forms() {
  std::string forms = KindNames(~0U);
  for (const Word& word : kWords) forms.append(", ").append(word.form);
  return forms;
}

std::string BuildGrammar() {
  std::string text = "A view is one of these kinds:\n";
  const auto add = [&text](std::string_view form, std::string_view of, std::string_view meaning) {
    constexpr size_t kColumn = 34;
    std::string line = "  " + std::string(form);
    line.resize(std::max(kColumn, line.size() + 1), ' ');
    text.append(line).append(of).append(meaning).append("\n");
  };
  for (const Kind& kind : kKinds) add(kind.name, "", kind.meaning);
  text += "and any of these words, joined by + in any order:\n";
  for (const Word& word : kWords) {
    add(word.form, word.of == kDecoded ? "" : KindNames(word.of) + ": ", word.meaning);
  }
  return text + "The first word of each list is the default; size=WxH implies fit=squash.\n";
}

}  // namespace

std::string_view NameOf(ViewKind kind) { return KindOf(kind).name; }

std::string_view NameOf(SpecWord word) { return WordOf(word).name; }

std::string_view ViewGrammar() {
  static const std::string text = BuildGrammar();
  return text;
}

Status SpecWords::Read(std::string_view text) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    AUGUR_TRY(Take(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (kind_) return CheckKinds();
  return {Code::kInvalid, "it names no kind; accepted: " + KindNames(~0U) + ", and words joined by +"};
}

Status SpecWords::Wrong(SpecWord number, std::string_view cause) const {
  const Word& word = WordOf(number);
  std::string text(word.name);
  if (word.form != word.name) text += "=" + Printable(Value(number));
  return {Code::kInvalid, text + ": " + std::string(cause) + Accepted(word)};
}

Status SpecWords::NoChoice(SpecWord word, const std::vector<std::string_view>& values) const {
  const std::string_view near = NearestWord(Value(word), values);
  const std::string advice = near.empty() ? "" : "; did you mean " + std::string(near) + "?";
  return Wrong(word, "not one of its values" + advice);
}

Status SpecWords::Take(std::string_view typed) {
  if (typed.empty()) return {Code::kInvalid, "an empty word; accepted: words joined by one +"};
  if (const auto* const kind = std::ranges::find(kKinds, typed, &Kind::name); kind != kKinds.end()) {
    if (kind_) {
      return {Code::kInvalid, std::string(typed) + ": a second kind; accepted: " + KindNames(~0U) + ", once"};
    }
    kind_ = kind->kind;
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

Status SpecWords::CheckKinds() const {
  const Of mine = KindOf(kind()).of;
  for (size_t number = 0; number < kSpecWordCount; ++number) {
    if (!values_[number] || (kWords[number].of & mine) != 0) continue;
    return Wrong(static_cast<SpecWord>(number), "only for " + KindNames(kWords[number].of));
  }
  return {};
}

}  // namespace augur
