// SPDX-License-Identifier: Apache-2.0
#include "pack/tf_example.h"

#include <algorithm>
#include <utility>

#include "pack/wire_reader.h"

namespace augur {
namespace {

// Field numbers of Example and SequenceExample, Features, its map's entries, Feature, and the lists.
constexpr uint64_t kFeatures = 1;
constexpr uint64_t kFeatureLists = 2;
constexpr uint64_t kEntry = 1;
constexpr uint64_t kKey = 1;
constexpr uint64_t kValue = 2;
constexpr uint64_t kBytesList = 1;
constexpr uint64_t kFloatList = 2;
constexpr uint64_t kIntegerList = 3;
constexpr uint64_t kListValue = 1;

// What the fields below return: whether the message is sound.
bool ReadIntegers(std::string_view list, TfFeature* feature) {
  WireReader wire(list);
  WireField field;
  const auto add = [feature](uint64_t value) {
    if (feature->value_count++ == 0) feature->number = static_cast<int64_t>(value);
  };
  while (wire.Next(&field)) {
    if (field.number != kListValue) continue;
    if (field.type == WireType::kVarint) add(field.varint);
    if (field.type != WireType::kBytes) continue;
    WireReader packed(field.bytes);
    while (!packed.done()) {
      const uint64_t value = packed.Varint();
      if (packed.broken()) return false;
      add(value);
    }
  }
  return !wire.broken();
}

bool ReadTexts(std::string_view list, TfFeature* feature) {
  WireReader wire(list);
  WireField field;
  while (wire.Next(&field)) {
    if (field.number != kListValue || field.type != WireType::kBytes) continue;
    if (feature->value_count++ == 0) feature->text = field.bytes;
  }
  return !wire.broken();
}

bool CountFloats(std::string_view list, TfFeature* feature) {
  WireReader wire(list);
  WireField field;
  while (wire.Next(&field)) {
    if (field.number == kListValue) feature->value_count += field.bytes.size() / sizeof(float);
  }
  return !wire.broken();
}

bool ReadFeature(std::string_view message, TfFeature* feature) {
  WireReader wire(message);
  WireField field;
  while (wire.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == kBytesList && !ReadTexts(field.bytes, feature)) return false;
    if (field.number == kIntegerList && !ReadIntegers(field.bytes, feature)) return false;
    if (field.number == kFloatList && !CountFloats(field.bytes, feature)) return false;
  }
  return !wire.broken();
}

bool ReadFeatures(std::string_view message, std::vector<TfFeature>* features) {
  WireReader wire(message);
  WireField entry;
  while (wire.Next(&entry)) {
    if (entry.number != kEntry || entry.type != WireType::kBytes) continue;
    TfFeature feature;
    WireReader map(entry.bytes);
    WireField field;
    while (map.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == kKey) feature.key = field.bytes;
      if (field.number == kValue && !ReadFeature(field.bytes, &feature)) return false;
    }
    if (map.broken()) return false;
    features->push_back(feature);
  }
  return !wire.broken();
}

}  // namespace

Result<TfExample> TfExample::Parse(std::span<const std::byte> bytes) {
  TfExample example;
  WireReader wire(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  WireField field;
  bool sound = true;
  while (sound && wire.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == kFeatures) sound = ReadFeatures(field.bytes, &example.features_);
    if (field.number != kFeatureLists) continue;
    return Status(Code::kUnsupported,
                  "is a SequenceExample, which has lists of images: write each image as a file, and pack them with "
                  "'augurpack create'");
  }
  if (sound && !wire.broken()) return example;
  return Status(Code::kCorrupt,
                "is no tf.train.Example: only records that are one can be adopted; write its images as files, and pack "
                "them with 'augurpack create'");
}

const TfFeature* TfExample::Find(std::string_view key) const {
  const auto found =
      std::find_if(features_.rbegin(), features_.rend(), [&](const TfFeature& f) { return f.key == key; });
  return found == features_.rend() ? nullptr : &*found;
}

}  // namespace augur
