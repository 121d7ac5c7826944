// SPDX-License-Identifier: Apache-2.0
#include "pack/tf_example.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

// The types of the wire format: developers.google.com/protocol-buffers, "Encoding".
enum class WireType : uint64_t { kVarint = 0, k64Bits = 1, kBytes = 2, k32Bits = 5 };

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

// One field of a message.
struct Field {
  uint64_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;
  std::string_view bytes;
};

// Goes through the fields of a message.
class Wire {
 public:
  explicit Wire(std::string_view message) : left_(message) {}

  // False: that was the last, or the message is broken.
  bool Next(Field* field) {
    if (left_.empty() || broken_) return false;
    const uint64_t tag = Varint();
    field->number = tag >> 3;
    field->type = static_cast<WireType>(tag & 7);
    if (field->number == 0) broken_ = true;
    switch (field->type) {
      case WireType::kVarint: field->varint = Varint(); break;
      case WireType::k64Bits: field->bytes = Bytes(8); break;
      case WireType::kBytes: field->bytes = Bytes(Varint()); break;
      case WireType::k32Bits: field->bytes = Bytes(4); break;
      default: broken_ = true;
    }
    return !broken_;
  }
  bool broken() const { return broken_; }

  // The next number of a packed list.
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }
  bool done() const { return left_.empty() || broken_; }

 private:
  std::string_view Bytes(uint64_t n) {
    if (n > left_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view bytes = left_.substr(0, n);
    left_.remove_prefix(n);
    return bytes;
  }

  std::string_view left_;
  bool broken_ = false;
};

// What the fields below return: whether the message is sound.
bool ReadIntegers(std::string_view list, TfFeature* feature) {
  Wire wire(list);
  Field field;
  const auto add = [feature](uint64_t value) {
    if (feature->value_count++ == 0) feature->number = static_cast<int64_t>(value);
  };
  while (wire.Next(&field)) {
    if (field.number != kListValue) continue;
    if (field.type == WireType::kVarint) add(field.varint);
    if (field.type != WireType::kBytes) continue;
    Wire packed(field.bytes);
    while (!packed.done()) {
      const uint64_t value = packed.Varint();
      if (packed.broken()) return false;
      add(value);
    }
  }
  return !wire.broken();
}

bool ReadTexts(std::string_view list, TfFeature* feature) {
  Wire wire(list);
  Field field;
  while (wire.Next(&field)) {
    if (field.number != kListValue || field.type != WireType::kBytes) continue;
    if (feature->value_count++ == 0) feature->text = field.bytes;
  }
  return !wire.broken();
}

bool CountFloats(std::string_view list, TfFeature* feature) {
  Wire wire(list);
  Field field;
  while (wire.Next(&field)) {
    if (field.number == kListValue) feature->value_count += field.bytes.size() / sizeof(float);
  }
  return !wire.broken();
}

bool ReadFeature(std::string_view message, TfFeature* feature) {
  Wire wire(message);
  Field field;
  while (wire.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == kBytesList && !ReadTexts(field.bytes, feature)) return false;
    if (field.number == kIntegerList && !ReadIntegers(field.bytes, feature)) return false;
    if (field.number == kFloatList && !CountFloats(field.bytes, feature)) return false;
  }
  return !wire.broken();
}

bool ReadFeatures(std::string_view message, std::vector<TfFeature>* features) {
  Wire wire(message);
  Field entry;
  while (wire.Next(&entry)) {
    if (entry.number != kEntry || entry.type != WireType::kBytes) continue;
    TfFeature feature;
    Wire map(entry.bytes);
    Field field;
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
  Wire wire(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  Field field;
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
