// SPDX-License-Identifier: Apache-2.0
#include "pack/wire_reader.h"

namespace augur {

bool WireReader::Next(WireField* field) {
  if (done()) return false;
  const uint64_t tag = Varint();
  field->number = tag >> 3;
  field->type = static_cast<WireType>(tag & 7);
  field->varint = 0;
  field->bytes = {};
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

uint64_t WireReader::Varint() {
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

std::string_view WireReader::Bytes(uint64_t count) {
  if (count > left_.size()) {
    broken_ = true;
    return {};
  }
  const std::string_view bytes = left_.substr(0, count);
  left_.remove_prefix(count);
  return bytes;
}

}  // namespace augur
