// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace augur {

// The types of values in the compact protocol of Thrift (thrift/doc/specs/thrift-compact-protocol.md).
enum class CompactType : uint8_t {
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

// Where the fields of one struct are: its numbers are told as differences. One for each struct that is read.
struct CompactField {
  int16_t id = 0;
  CompactType type = CompactType::kStruct;

  bool Is(int16_t wanted_id, CompactType wanted_type) const { return id == wanted_id && type == wanted_type; }
};

// CompactReader goes through values in the compact protocol of Thrift. A value that is not wanted must be skipped. The
// bytes must outlive it and what it hands out. After bytes that are broken it hands out zeros and empty texts, and
// `broken` says so. One thread.
class CompactReader {
 public:
  explicit CompactReader(std::span<const std::byte> bytes) : all_(bytes.size()), left_(bytes) {}

  // The next field of a struct, whose `field` begins as CompactField(). False: that was the last, or broken.
  bool Next(CompactField* field);
  // A number of any width.
  int64_t Number();
  std::string_view Text();
  // How many elements a list or set has, and their type. They follow.
  uint64_t List(CompactType* type);
  // A value within a struct, with all that it holds.
  void Skip(CompactType type);

  bool broken() const { return broken_; }
  // Bytes that were read.
  size_t position() const { return all_ - left_.size(); }

 private:
  // A list of lists ... in memory, which a stack must hold.
  static constexpr unsigned kDepthMax = 32;

  uint8_t Byte();
  uint64_t Varint();
  std::span<const std::byte> Bytes(uint64_t count);
  void SkipWithin(CompactType type, unsigned depth, bool in_list);

  const size_t all_;
  std::span<const std::byte> left_;
  bool broken_ = false;
};

}  // namespace augur
