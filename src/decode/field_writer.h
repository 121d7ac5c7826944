// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace augur {

// Puts the fields of a file's header one after another into memory whose size the caller has worked out beforehand.
// Not checked: a writer's size function and its fields must agree, which its tests hold.
class FieldWriter {
 public:
  explicit FieldWriter(std::byte* at) : at_(at) {}

  std::byte* at() const { return at_; }
  void Skip(size_t bytes) { at_ += bytes; }
  void U8(uint8_t value) { *at_++ = std::byte{value}; }
  void Big32(uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) U8(static_cast<uint8_t>(value >> shift));
  }
  void Little16(uint16_t value) {
    U8(static_cast<uint8_t>(value));
    U8(static_cast<uint8_t>(value >> 8));
  }
  void Little32(uint32_t value) {
    for (int shift = 0; shift <= 24; shift += 8) U8(static_cast<uint8_t>(value >> shift));
  }
  void Bytes(const void* bytes, size_t count) {
    if (count > 0) std::memcpy(at_, bytes, count);
    at_ += count;
  }
  // Bytes that may be in their place already, or anywhere behind it.
  void Move(const void* bytes, size_t count) {
    if (count > 0 && bytes != at_) std::memmove(at_, bytes, count);
    at_ += count;
  }
  void Text(std::string_view text) { Bytes(text.data(), text.size()); }

 private:
  std::byte* at_;
};

}  // namespace augur
