// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace augur {

struct FreeAligned {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// Memory for reads and writes by O_DIRECT, which the owner frees. nullptr: none.
using AlignedMemory = std::unique_ptr<std::byte[], FreeAligned>;

// Memory at a multiple of `alignment`, not initialised. nullptr: the system has none. REQUIRES: `alignment` is a power
// of two, and `bytes` a multiple of it.
inline AlignedMemory AllocateAligned(size_t alignment, size_t bytes) {
  return AlignedMemory(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
}

}  // namespace augur
