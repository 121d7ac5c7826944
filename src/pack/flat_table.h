// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "pack/little_endian.h"

namespace augur {

class FlatTable;

// FlatVector is a list within a FlatBuffer: of tables, or of structs, which are plain bytes. A value; empty by default.
class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(std::span<const std::byte> buffer, size_t first, size_t count)
      : buffer_(buffer), first_(first), count_(count) {}

  size_t size() const { return count_; }
  // The table at `index`. Nothing: it leaves the buffer.
  std::optional<FlatTable> Table(size_t index) const;
  // The struct of `bytes` bytes at `index`. Nothing: it leaves the buffer.
  std::optional<std::span<const std::byte>> Struct(size_t index, size_t bytes) const;

 private:
  std::span<const std::byte> buffer_;
  size_t first_ = 0;
  size_t count_ = 0;
};

// FlatTable is a table within a FlatBuffer (flatbuffers.dev, Internals). No offset is trusted: a field that leaves
// the buffer counts as absent, and an absent field has its default. The bytes must outlive it. A value. Offsets
// may lead twice to one table, so who walks down a tree must count.
class FlatTable {
 public:
  // The table that the buffer has as its root.
  static std::optional<FlatTable> Root(std::span<const std::byte> buffer);
  // The table at `at`.
  static std::optional<FlatTable> At(std::span<const std::byte> buffer, uint64_t at);

  // The number of field `id`, 0 for the first, or `otherwise`.
  template <typename Number>
  Number Get(unsigned id, Number otherwise) const {
    const std::optional<size_t> at = Field(id, sizeof(Number));
    return at ? NumberAt<Number>(buffer_, *at) : otherwise;
  }
  bool Has(unsigned id) const { return Field(id, 1).has_value(); }
  std::optional<FlatTable> Table(unsigned id) const;
  std::string_view Text(unsigned id) const;
  FlatVector Vector(unsigned id) const;

 private:
  FlatTable(std::span<const std::byte> buffer, size_t at, size_t fields_at, size_t fields)
      : buffer_(buffer), at_(at), fields_at_(fields_at), fields_(fields) {}
  std::optional<size_t> Field(unsigned id, size_t bytes) const;
  std::optional<size_t> Target(unsigned id) const;

  std::span<const std::byte> buffer_;
  size_t at_;
  size_t fields_at_;  // of the offsets of its fields
  size_t fields_;     // how many there are
};

}  // namespace augur
