// SPDX-License-Identifier: Apache-2.0
#include "pack/tfrecord_frame.h"

#include "base/crc32c.h"
#include "pack/little_endian.h"

namespace augur {

bool TfRecordFrame::Recognizes(std::span<const std::byte> bytes) {
  return bytes.size() >= kHeadBytes && LengthOf(bytes).has_value();
}

std::optional<uint64_t> TfRecordFrame::LengthOf(std::span<const std::byte> head) {
  const std::span<const std::byte> length = head.first(sizeof(uint64_t));
  if (MaskedCrc32c(Crc32c(length)) != NumberAt<uint32_t>(head, length.size())) return std::nullopt;
  return NumberAt<uint64_t>(length, 0);
}

bool TfRecordFrame::Fits(std::span<const std::byte> record, std::span<const std::byte> tail) {
  return MaskedCrc32c(Crc32c(record)) == NumberAt<uint32_t>(tail, 0);
}

}  // namespace augur
