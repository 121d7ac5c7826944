// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace augur {

// The types of fields in the wire format of Protocol Buffers (protobuf.dev, "Encoding").
enum class WireType : uint64_t { kVarint = 0, k64Bits = 1, kBytes = 2, k32Bits = 5 };

// One field of a message.
struct WireField {
  uint64_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;     // of kVarint
  std::string_view bytes;  // of the others
};

// WireReader goes through the fields of a message in the wire format of Protocol Buffers. The message must outlive it
// and what it hands out. One thread.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}

  // False: that was the last, or the message is broken.
  bool Next(WireField* field);
  // The next number of a packed list; 0 where the list is broken.
  uint64_t Varint();
  bool done() const { return left_.empty() || broken_; }
  bool broken() const { return broken_; }

 private:
  std::string_view Bytes(uint64_t count);

  std::string_view left_;
  bool broken_ = false;
};

}  // namespace augur
