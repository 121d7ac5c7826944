// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace augur {

// TfRecordFrame is what stands around a record of a TFRecord file (tensorflow/core/lib/io/record_writer.h): the
// record's length of 8 bytes and the masked CRC-32C of these, the record, and its masked CRC-32C.
struct TfRecordFrame {
  static constexpr size_t kHeadBytes = 12;
  static constexpr size_t kTailBytes = 4;

  // Whether a TFRecord file may begin so.
  static bool Recognizes(std::span<const std::byte> bytes);
  // The length of the record behind a head. Nothing: the checksum is not that of the length. REQUIRES: kHeadBytes.
  static std::optional<uint64_t> LengthOf(std::span<const std::byte> head);
  // Whether `tail` has the checksum of the record. REQUIRES: kTailBytes.
  static bool Fits(std::span<const std::byte> record, std::span<const std::byte> tail);
};

}  // namespace augur
