// SPDX-License-Identifier: Apache-2.0
#include "pack/flat_table.h"

namespace augur {
namespace {

constexpr size_t kOffsetBytes = 4;
constexpr size_t kFieldOffsetBytes = 2;
constexpr size_t kFieldsHeadBytes = 4;  // the bytes of the list of fields, and of the table

// Where the offset at `at` leads to. Nothing: out of the buffer.
std::optional<size_t> Follow(std::span<const std::byte> buffer, uint64_t at) {
  if (at + kOffsetBytes > buffer.size()) return std::nullopt;
  const uint64_t target = at + NumberAt<uint32_t>(buffer, at);
  if (target + kOffsetBytes > buffer.size()) return std::nullopt;
  return static_cast<size_t>(target);
}

}  // namespace

std::optional<FlatTable> FlatVector::Table(size_t index) const {
  if (index >= count_) return std::nullopt;
  const std::optional<size_t> at = Follow(buffer_, first_ + uint64_t{index} * kOffsetBytes);
  return at ? FlatTable::At(buffer_, *at) : std::nullopt;
}

std::optional<std::span<const std::byte>> FlatVector::Struct(size_t index, size_t bytes) const {
  const uint64_t at = first_ + uint64_t{index} * bytes;
  if (index >= count_ || at + bytes > buffer_.size()) return std::nullopt;
  return buffer_.subspan(at, bytes);
}

std::optional<FlatTable> FlatTable::Root(std::span<const std::byte> buffer) {
  const std::optional<size_t> at = Follow(buffer, 0);
  return at ? At(buffer, *at) : std::nullopt;
}

// A table begins with the distance back to the list of its fields.
std::optional<FlatTable> FlatTable::At(std::span<const std::byte> buffer, uint64_t at) {
  if (at + kOffsetBytes > buffer.size()) return std::nullopt;
  const int64_t list = static_cast<int64_t>(at) - NumberAt<int32_t>(buffer, at);
  if (list < 0 || static_cast<uint64_t>(list) + kFieldsHeadBytes > buffer.size()) return std::nullopt;
  const auto list_at = static_cast<size_t>(list);
  const size_t list_bytes = NumberAt<uint16_t>(buffer, list_at);
  if (list_bytes < kFieldsHeadBytes || list_at + list_bytes > buffer.size()) return std::nullopt;
  return FlatTable(buffer, at, list_at + kFieldsHeadBytes, (list_bytes - kFieldsHeadBytes) / kFieldOffsetBytes);
}

// Where a field of `bytes` bytes is. Nothing: it is not there, or leaves the buffer.
std::optional<size_t> FlatTable::Field(unsigned id, size_t bytes) const {
  if (id >= fields_) return std::nullopt;
  const size_t within = NumberAt<uint16_t>(buffer_, fields_at_ + id * kFieldOffsetBytes);
  if (within == 0 || at_ + within + bytes > buffer_.size()) return std::nullopt;
  return at_ + within;
}

std::optional<size_t> FlatTable::Target(unsigned id) const {
  const std::optional<size_t> field = Field(id, kOffsetBytes);
  return field ? Follow(buffer_, *field) : std::nullopt;
}

std::optional<FlatTable> FlatTable::Table(unsigned id) const {
  const std::optional<size_t> at = Target(id);
  return at ? At(buffer_, *at) : std::nullopt;
}

std::string_view FlatTable::Text(unsigned id) const {
  const std::optional<size_t> at = Target(id);
  if (!at) return {};
  const size_t bytes = NumberAt<uint32_t>(buffer_, *at);
  if (bytes > buffer_.size() - *at - kOffsetBytes) return {};
  return {reinterpret_cast<const char*>(buffer_.data()) + *at + kOffsetBytes, bytes};
}

// An element has a byte at least, so that a count cannot be larger than the buffer.
FlatVector FlatTable::Vector(unsigned id) const {
  const std::optional<size_t> at = Target(id);
  if (!at) return {};
  const size_t count = NumberAt<uint32_t>(buffer_, *at);
  if (count > buffer_.size() - *at - kOffsetBytes) return {};
  return {buffer_, *at + kOffsetBytes, count};
}

}  // namespace augur
