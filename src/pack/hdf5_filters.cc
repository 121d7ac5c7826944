// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_filters.h"

#include <span>
#include <utility>

#include "pack/little_endian.h"
#include "pack/unpack_bytes.h"

namespace augur {
namespace {

constexpr uint16_t kDeflate = 1;
constexpr uint16_t kShuffle = 2;
constexpr uint16_t kFletcher = 3;
constexpr uint16_t kFirstNamed = 256;
constexpr size_t kFletcherBytes = 4;
constexpr size_t kFiltersMax = 32;  // H5Z_MAX_NFILTERS

// H5_checksum_fletcher32: of words of 16 bits, the more significant byte first.
uint32_t Fletcher32(std::span<const std::byte> bytes) {
  uint32_t sum = 0;
  uint32_t sum_of_sums = 0;
  constexpr uint32_t kModulus = 65535;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    uint32_t word = std::to_integer<uint32_t>(bytes[i]) << 8;
    if (i + 1 < bytes.size()) word |= std::to_integer<uint32_t>(bytes[i + 1]);
    sum = (sum + word) % kModulus;
    sum_of_sums = (sum_of_sums + sum) % kModulus;
  }
  return sum_of_sums << 16 | sum;
}

// Whether two sums are the same but for 0 and 65,535, which are one number to Fletcher.
bool SameSums(uint32_t a, uint32_t b) {
  const auto same = [](uint32_t x, uint32_t y) { return x % 65535 == y % 65535; };
  return same(a & 0xffff, b & 0xffff) && same(a >> 16, b >> 16);
}

// All first bytes of elements, then all second ones ... into elements.
std::vector<std::byte> Unshuffled(const std::vector<std::byte>& bytes, size_t element_bytes) {
  if (element_bytes <= 1) return bytes;
  const size_t elements = bytes.size() / element_bytes;
  std::vector<std::byte> out = bytes;  // with what is behind the last whole element
  for (size_t i = 0; i < elements; ++i) {
    for (size_t j = 0; j < element_bytes; ++j) out[i * element_bytes + j] = bytes[j * elements + i];
  }
  return out;
}

}  // namespace

Result<Hdf5Filters> Hdf5Filters::Parse(const std::vector<std::byte>& message) {
  const Status broken(Code::kCorrupt, "the list of its filters is broken");
  if (message.size() < 2) return broken;
  const bool is_old = message[0] == std::byte{1};
  const auto count = std::to_integer<size_t>(message[1]);
  if (count > kFiltersMax) return broken;
  std::span<const std::byte> left = std::span(message).subspan(is_old ? std::min<size_t>(8, message.size()) : 2);
  Hdf5Filters filters;
  for (size_t i = 0; i < count; ++i) {
    if (left.size() < 2) return broken;
    Filter filter = {.id = NumberAt<uint16_t>(left, 0)};
    const bool has_name = is_old || filter.id >= kFirstNamed;
    const size_t head_bytes = has_name ? 8 : 6;
    if (left.size() < head_bytes) return broken;
    const size_t name_bytes = has_name ? NumberAt<uint16_t>(left, 2) : 0;
    const size_t values = NumberAt<uint16_t>(left, head_bytes - 2);
    const size_t padding = is_old && values % 2 == 1 ? 4 : 0;
    if (left.size() - head_bytes < name_bytes + values * 4 + padding) return broken;
    const std::span<const std::byte> name = left.subspan(head_bytes, name_bytes);
    if (values > 0) filter.value = NumberAt<uint32_t>(left, head_bytes + name_bytes);
    left = left.subspan(head_bytes + name_bytes + values * 4 + padding);
    if (filter.id != kDeflate && filter.id != kShuffle && filter.id != kFletcher) {
      const std::string text(reinterpret_cast<const char*>(name.data()), name.size());
      return Status(Code::kUnsupported, "has filter " + std::to_string(filter.id) +
                                            (text.empty() ? "" : " (" + text.substr(0, text.find('\0')) + ")") +
                                            ", and only deflate (gzip), shuffle and fletcher32 are read here");
    }
    filters.filters_.push_back(filter);
  }
  return filters;
}

Result<std::vector<std::byte>> Hdf5Filters::Undo(std::vector<std::byte> chunk, uint32_t left_out, size_t bytes) const {
  const Status broken(Code::kCorrupt, "a chunk of it cannot be unpacked");
  const auto is_used = [left_out](size_t i) { return (left_out >> i & 1U) == 0; };
  for (size_t i = filters_.size(); i > 0; --i) {
    if (!is_used(i - 1)) continue;
    const Filter& filter = filters_[i - 1];
    if (filter.id == kFletcher) {
      if (chunk.size() < kFletcherBytes) return broken;
      const size_t data_bytes = chunk.size() - kFletcherBytes;
      const auto sums = NumberAt<uint32_t>(chunk, data_bytes);
      chunk.resize(data_bytes);
      if (!SameSums(sums, Fletcher32(chunk)))
        return Status(Code::kCorrupt, "a chunk of it does not match its checksum");
    } else if (filter.id == kShuffle) {
      chunk = Unshuffled(chunk, filter.value);
    } else {
      size_t unpacked_bytes = bytes;
      for (size_t j = 0; j + 1 < i; ++j)
        unpacked_bytes += is_used(j) && filters_[j].id == kFletcher ? kFletcherBytes : 0;
      if (!MayUnpackTo(chunk.size(), unpacked_bytes)) return broken;
      std::vector<std::byte> unpacked(unpacked_bytes);
      if (!UnpackBytes(ParquetCodec::kGzip, chunk, unpacked)) return broken;
      chunk = std::move(unpacked);
    }
  }
  return chunk.size() == bytes ? Result<std::vector<std::byte>>(std::move(chunk)) : broken;
}

}  // namespace augur
