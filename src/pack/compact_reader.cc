// SPDX-License-Identifier: Apache-2.0
#include "pack/compact_reader.h"

namespace augur {
namespace {

constexpr uint8_t kStop = 0;
constexpr uint64_t kLongList = 15;  // its size follows
constexpr uint64_t kDoubleBytes = 8;

int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }

}  // namespace

uint8_t CompactReader::Byte() {
  const std::span<const std::byte> one = Bytes(1);
  return one.empty() ? uint8_t{0} : std::to_integer<uint8_t>(one[0]);
}

std::span<const std::byte> CompactReader::Bytes(uint64_t count) {
  if (broken_ || count > left_.size()) {
    broken_ = true;
    return {};
  }
  const std::span<const std::byte> bytes = left_.first(count);
  left_ = left_.subspan(count);
  return bytes;
}

uint64_t CompactReader::Varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !broken_; shift += 7) {
    const uint8_t byte = Byte();
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return broken_ ? 0 : value;
  }
  broken_ = true;
  return 0;
}

bool CompactReader::Next(CompactField* field) {
  const uint8_t head = Byte();
  if (broken_ || head == kStop) return false;
  field->type = static_cast<CompactType>(head & 15);
  const unsigned difference = head >> 4;
  field->id = difference == 0 ? static_cast<int16_t>(Number()) : static_cast<int16_t>(field->id + difference);
  return !broken_;
}

int64_t CompactReader::Number() { return UnZigZag(Varint()); }

std::string_view CompactReader::Text() {
  const std::span<const std::byte> bytes = Bytes(Varint());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t CompactReader::List(CompactType* type) {
  const uint8_t head = Byte();
  *type = static_cast<CompactType>(head & 15);
  uint64_t size = head >> 4;
  if (size == kLongList) size = Varint();
  // Each element has a byte at least.
  if (size > left_.size()) broken_ = true;
  return broken_ ? 0 : size;
}

void CompactReader::Skip(CompactType type) { SkipWithin(type, 0, /*in_list=*/false); }

// Within a list a truth has a byte of its own.
void CompactReader::SkipWithin(CompactType type, unsigned depth, bool in_list) {
  if (depth > kDepthMax) broken_ = true;
  if (broken_) return;
  switch (type) {
    case CompactType::kTrue:
    case CompactType::kFalse:
      if (in_list) Byte();
      return;
    case CompactType::kByte: Byte(); return;
    case CompactType::kInt16:
    case CompactType::kInt32:
    case CompactType::kInt64: Varint(); return;
    case CompactType::kDouble: Bytes(kDoubleBytes); return;
    case CompactType::kBinary: Text(); return;
    case CompactType::kList:
    case CompactType::kSet: {
      CompactType element = {};
      const uint64_t size = List(&element);
      for (uint64_t i = 0; i < size && !broken_; ++i) SkipWithin(element, depth + 1, /*in_list=*/true);
      return;
    }
    case CompactType::kMap: {
      const uint64_t size = Varint();
      const uint8_t types = size == 0 ? uint8_t{0} : Byte();
      for (uint64_t i = 0; i < size && !broken_; ++i) {
        SkipWithin(static_cast<CompactType>(types >> 4), depth + 1, /*in_list=*/true);
        SkipWithin(static_cast<CompactType>(types & 15), depth + 1, /*in_list=*/true);
      }
      return;
    }
    case CompactType::kStruct: {
      CompactField field;
      while (Next(&field)) SkipWithin(field.type, depth + 1, /*in_list=*/false);
      return;
    }
  }
  broken_ = true;
}

}  // namespace augur
