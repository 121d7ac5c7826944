// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"

namespace augur {

// Hdf5Filters lists the filters that were applied to the chunks of a dataset, in this order (HDF5 File Format
// Specification, "Filter Pipeline Message"). Known are deflate, shuffle and fletcher32. A value.
class Hdf5Filters {
 public:
  // Of no filter.
  Hdf5Filters() = default;
  // kCorrupt, without context: the message is broken. kUnsupported: a filter that is not known, by name.
  static Result<Hdf5Filters> Parse(const std::vector<std::byte>& message);

  bool empty() const { return filters_.empty(); }
  // What a chunk of `bytes` bytes was before. Bit i of `left_out` says that filter i was not used on it. kCorrupt,
  // without context: damaged, or it has another size.
  Result<std::vector<std::byte>> Undo(std::vector<std::byte> chunk, uint32_t left_out, size_t bytes) const;

 private:
  struct Filter {
    uint16_t id = 0;
    uint32_t value = 0;  // the first of its parameters
  };
  std::vector<Filter> filters_;
};

}  // namespace augur
