// SPDX-License-Identifier: Apache-2.0
#include "decode/lossless_scan.h"

#include <numeric>

namespace augur {
namespace {

constexpr unsigned kCategoryMax = 16;  // a difference of 2^15, which has no further bits
// As libjpeg-turbo (jdhuff.h, with 64 bits): it looks for more when it has fewer than a short code, the next bit of a
// long one, or the bits behind a code; then it takes all bytes that have room. A file that ends there is truncated even
// if its bits are enough.
constexpr unsigned kShortCode = 8;
constexpr unsigned kFull = 57;

}  // namespace

bool LosslessTable::Read(std::span<const std::byte> counts_and_values) {
  if (counts_and_values.size() < kBitsMax) return false;
  const auto values = counts_and_values.subspan(kBitsMax);
  uint32_t code = 0;
  uint32_t taken = 0;
  for (unsigned length = 1; length <= kBitsMax; ++length) {
    const auto count = std::to_integer<uint32_t>(counts_and_values[length - 1]);
    first_code_[length] = code;
    first_value_[length] = taken;
    code += count;
    taken += count;
    if (code > 1U << length) return false;
    end_[length] = code << (kBitsMax - length);
    code <<= 1;
  }
  if (taken == 0 || taken > values.size()) return false;
  values_.clear();
  for (const std::byte value : values.first(taken)) {
    if (std::to_integer<unsigned>(value) > kCategoryMax) return false;
    values_.push_back(std::to_integer<uint8_t>(value));
  }
  return true;
}

LosslessTable::Code LosslessTable::Find(uint32_t bits) const {
  for (unsigned length = 1; length <= kBitsMax; ++length) {
    if (bits >= end_[length]) continue;
    return {.length = length,
            .value = values_[first_value_[length] + (bits >> (kBitsMax - length)) - first_code_[length]]};
  }
  return {};
}

bool LosslessBits::Fill() {
  while (count_ < kFull) {
    if (at_ == file_.size()) return false;
    const auto byte = std::to_integer<uint64_t>(file_[at_]);
    if (byte == 0xFF) {
      // A zero behind it says that it is no marker.
      if (file_.size() - at_ < 2) {
        at_ = file_.size();
        return false;
      }
      if (file_[at_ + 1] != std::byte{0}) return true;
      ++at_;
    }
    ++at_;
    bits_ |= byte << (56 - count_);
    count_ += 8;
  }
  return true;
}

bool LosslessBits::Take(unsigned count, uint32_t* value) {
  if (count_ < count && !Fill()) return false;
  if (count_ < count) return false;
  *value = count == 0 ? 0 : static_cast<uint32_t>(bits_ >> (64 - count));
  bits_ <<= count;
  count_ -= count;
  return true;
}

bool LosslessBits::TakeCode(const LosslessTable& table, unsigned* value) {
  if (count_ < kShortCode && !Fill()) return false;
  LosslessTable::Code code = table.Find(static_cast<uint32_t>(bits_ >> 48));
  uint32_t taken = 0;
  if (count_ >= kShortCode && code.length > 0 && code.length <= kShortCode) {
    *value = code.value;
    return Take(code.length, &taken);
  }
  unsigned length = count_ < kShortCode ? 1 : kShortCode + 1;
  if (!Take(length, &taken)) return false;
  while (code = table.Find(taken << (LosslessTable::kBitsMax - length)), code.length > length) {
    uint32_t bit = 0;
    if (!Take(1, &bit)) return false;
    taken = taken << 1 | bit;
    ++length;
  }
  *value = code.value;
  return code.length == length;
}

bool LosslessBits::Next(const LosslessTable& table, int* difference) {
  unsigned more = 0;
  if (!TakeCode(table, &more)) return false;
  *difference = 1 << 15;
  if (more == kCategoryMax) return true;
  uint32_t number = 0;
  if (!Take(more, &number)) return false;
  // The lower half of the numbers of this many bits stands for negative ones.
  const auto positive = static_cast<int>(number);
  *difference = more == 0 || number >> (more - 1) != 0 ? positive : positive - (1 << more) + 1;
  return true;
}

bool LosslessBits::Restart(unsigned number) {
  // Less than a byte of filling may be left.
  if (count_ >= 8) return false;
  bits_ = 0;
  count_ = 0;
  while (file_.size() - at_ >= 2 && file_[at_] == std::byte{0xFF} && file_[at_ + 1] == std::byte{0xFF}) ++at_;
  if (file_.size() - at_ < 2) {
    at_ = file_.size();
    return false;
  }
  if (file_[at_] != std::byte{0xFF} || file_[at_ + 1] != static_cast<std::byte>(0xD0 + number)) return false;
  at_ += 2;
  return true;
}

}  // namespace augur
