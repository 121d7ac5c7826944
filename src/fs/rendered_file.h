// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "cache/buffer_pool.h"

namespace augur {

// Memory that a disk can be read into past the page cache.
struct PageAligned {
  static constexpr std::align_val_t kAlign{4096};
  void operator()(std::byte* memory) const { ::operator delete[](memory, kAlign); }
};
using PageMemory = std::unique_ptr<std::byte[], PageAligned>;
inline PageMemory MakePageMemory(size_t bytes) {
  return PageMemory(static_cast<std::byte*>(::operator new[](bytes, PageAligned::kAlign)));
}

// The bytes of a whole file of a view.
struct RenderedFile {
  PageMemory data;
  std::shared_ptr<const Buffer> memory = nullptr;  // instead: of who asked for it ahead
  size_t bytes = 0;
  std::byte* begin() const { return memory ? memory->data() : data.get(); }
  std::span<const std::byte> span() const { return {begin(), bytes}; }
};
using RenderedRef = std::shared_ptr<const RenderedFile>;

}  // namespace augur
