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
// of two, and a multiple of the size of a pointer.
inline AlignedMemory AllocateAligned(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  return AlignedMemory(static_cast<std::byte*>(memory));
}

}  // namespace augur
