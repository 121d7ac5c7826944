// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace augur {

// A value of a column of a table.
struct TableValue {
  bool is_null = false;
  int64_t number = 0;                // of a column of numbers
  std::span<const std::byte> bytes;  // of others
  std::optional<uint64_t> offset;    // in the file, where `bytes` stand as they are
};

}  // namespace augur
