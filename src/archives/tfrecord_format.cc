// SPDX-License-Identifier: Apache-2.0
#include "archives/tfrecord_format.h"

#include <cstring>
#include <span>

#include "archives/little_endian.h"
#include "base/crc32c.h"

namespace augur {
namespace {

// Of protobuf's wire format: field << 3 | type.
constexpr char LengthTag(int field) { return static_cast<char>(field << 3 | 2); }
// The fields of Example, Features, the entries of its map, Feature, and the lists.
constexpr int kExampleFeatures = 1;
constexpr int kFeaturesEntry = 1;
constexpr int kEntryKey = 1;
constexpr int kEntryFeature = 2;
constexpr int kFeatureBytes = 1;
constexpr int kFeatureInt64 = 3;
constexpr int kListValue = 1;

void AddVarint(uint64_t number, std::string* out) {
  for (; number >= 0x80; number >>= 7) *out += static_cast<char>(number | 0x80);
  *out += static_cast<char>(number);
}

uint64_t VarintBytes(uint64_t number) {
  uint64_t bytes = 1;
  for (; number >= 0x80; number >>= 7) ++bytes;
  return bytes;
}

// The beginning of a field of `bytes` bytes, and how many bytes the whole field has.
void AddHead(int field, uint64_t bytes, std::string* out) {
  *out += LengthTag(field);
  AddVarint(bytes, out);
}
uint64_t FieldBytes(uint64_t bytes) { return 1 + VarintBytes(bytes) + bytes; }

void AddField(int field, std::string_view value, std::string* out) {
  AddHead(field, value.size(), out);
  *out += value;
}

// A feature of one value: the heads of its parts, one in the other, and their sizes.
struct FeatureHeads {
  std::string_view key;
  int kind;        // kFeatureBytes or kFeatureInt64
  uint64_t value;  // bytes

  uint64_t list() const { return FieldBytes(value); }
  uint64_t feature() const { return FieldBytes(list()); }
  uint64_t entry() const { return FieldBytes(key.size()) + FieldBytes(feature()); }
  uint64_t all() const { return FieldBytes(entry()); }
  // All but the value.
  void Add(std::string* out) const {
    AddHead(kFeaturesEntry, entry(), out);
    AddField(kEntryKey, key, out);
    AddHead(kEntryFeature, feature(), out);
    AddHead(kind, list(), out);
    AddHead(kListValue, value, out);
  }
};

std::string_view FormatOf(ImageKind kind) { return kind == ImageKind::kPng ? "PNG" : "JPEG"; }

std::string_view ColorspaceOf(uint8_t channels) {
  if (channels == 1) return "Grayscale";
  return channels == 4 ? "CMYK" : "RGB";
}

FeatureHeads ImageOf(ExampleKeys keys, const Sample& sample) {
  return {
      .key = keys == ExampleKeys::kTfds ? "image" : "image/encoded", .kind = kFeatureBytes, .value = sample.image.size};
}

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kCrcBytes = 4;

}  // namespace

template <typename Bytes, typename Number>
void TfrecordFormat::ForEachFeature(const Sample& sample, const Bytes& bytes, const Number& number) const {
  const int64_t label = sample.label == Sample::kNoLabel ? Sample::kNoLabel : sample.label + base_;
  if (keys_ == ExampleKeys::kTfds) {
    bytes("file_name", sample.image.name);
    number("label", label);
    return;
  }
  const ImageInfo& info = sample.image.image;
  number("image/channels", info.channels);
  number("image/class/label", label);
  bytes("image/class/synset", sample.class_name);
  bytes("image/class/text", std::string_view());
  bytes("image/colorspace", ColorspaceOf(info.channels));
  bytes("image/filename", sample.image.name);
  bytes("image/format", FormatOf(info.kind));
  number("image/height", info.height);
  number("image/width", info.width);
}

uint64_t TfrecordFormat::SampleBytes(const Sample& sample, const std::string& /*key*/) const {
  uint64_t features = ImageOf(keys_, sample).all();
  const auto add = [&features](std::string_view key, uint64_t value) {
    features += FeatureHeads{.key = key, .kind = kFeatureBytes, .value = value}.all();
  };
  ForEachFeature(
      sample, [&](std::string_view key, std::string_view value) { add(key, value.size()); },
      [&](std::string_view key, int64_t value) { add(key, VarintBytes(static_cast<uint64_t>(value))); });
  return kLengthBytes + kCrcBytes + FieldBytes(features) + kCrcBytes;
}

// The image is the last feature, and a checksum follows.
uint64_t TfrecordFormat::ImageOffset(const Sample& sample, const std::string& key) const {
  return SampleBytes(sample, key) - sample.image.size - kCrcBytes;
}

SampleFrame TfrecordFormat::Frame(const Sample& sample, const std::string& /*key*/) const {
  std::string features;
  const auto add = [&features](std::string_view key, int kind, std::string_view value) {
    FeatureHeads{.key = key, .kind = kind, .value = value.size()}.Add(&features);
    features += value;
  };
  ForEachFeature(
      sample, [&](std::string_view key, std::string_view value) { add(key, kFeatureBytes, value); },
      [&](std::string_view key, int64_t value) {
        std::string packed;
        AddVarint(static_cast<uint64_t>(value), &packed);
        add(key, kFeatureInt64, packed);
      });
  ImageOf(keys_, sample).Add(&features);
  std::string example;
  AddHead(kExampleFeatures, features.size() + sample.image.size, &example);
  example += features;
  SampleFrame frame;
  AddLittleEndian(example.size() + sample.image.size, kLengthBytes, &frame.head);
  AddLittleEndian(MaskedCrc32c(Crc32c(std::as_bytes(std::span(frame.head)))), kCrcBytes, &frame.head);
  frame.head += example;
  frame.crc_before_image = Crc32c(std::as_bytes(std::span(example)));
  return frame;
}

}  // namespace augur
