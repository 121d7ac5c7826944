// SPDX-License-Identifier: Apache-2.0
#include "pack/run_length_reader.h"

#include <algorithm>

namespace augur {
namespace {

constexpr unsigned kWidthMax = 32;
constexpr uint64_t kPackedAtOnce = 8;  // numbers

}  // namespace

RunLengthReader::RunLengthReader(std::span<const std::byte> bytes, unsigned width)
    : left_(bytes), width_(width), broken_(width > kWidthMax) {}

// A head, and the number of a run of equal ones, or packed bits.
void RunLengthReader::BeginRun() {
  uint64_t head = 0;
  bool ended = false;
  for (unsigned shift = 0; shift < 35 && !left_.empty() && !ended; shift += 7) {
    const auto byte = std::to_integer<uint8_t>(left_[0]);
    left_ = left_.subspan(1);
    head |= uint64_t{byte & 0x7fU} << shift;
    ended = byte < 0x80;
  }
  is_packed_ = (head & 1) != 0;
  run_left_ = is_packed_ ? (head >> 1) * kPackedAtOnce : head >> 1;
  broken_ = broken_ || !ended || run_left_ == 0;
  if (broken_) return;
  if (is_packed_) {
    // The last run may lack the bytes of numbers that are not there.
    const uint64_t bytes = std::min<uint64_t>(run_left_ / kPackedAtOnce * width_, left_.size());
    packed_ = left_.first(bytes);
    left_ = left_.subspan(bytes);
    bit_ = 0;
    return;
  }
  const size_t bytes = (width_ + 7) / 8;
  broken_ = bytes > left_.size();
  if (broken_) return;
  number_ = 0;
  for (size_t i = bytes; i > 0; --i) number_ = number_ << 8 | std::to_integer<uint32_t>(left_[i - 1]);
  left_ = left_.subspan(bytes);
}

uint32_t RunLengthReader::Next() {
  if (width_ == 0) return 0;
  if (!broken_ && run_left_ == 0) BeginRun();
  if (broken_) return 0;
  --run_left_;
  if (!is_packed_) return number_;
  if (bit_ + width_ > packed_.size() * 8) {
    broken_ = true;
    return 0;
  }
  uint32_t number = 0;
  for (unsigned i = 0; i < width_; ++i, ++bit_) {
    const uint32_t one = std::to_integer<uint32_t>(packed_[bit_ / 8]) >> (bit_ % 8) & 1U;
    number |= one << i;
  }
  return number;
}

}  // namespace augur
