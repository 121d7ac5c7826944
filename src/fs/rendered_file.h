// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/recycled_memory.h"
#include "cache/buffer_pool.h"

namespace augur {

// The bytes of a whole file of a view.
struct RenderedFile {
  RecycledMemory::Piece<std::byte> data;
  std::shared_ptr<const Buffer> memory = nullptr;  // instead: of who asked for it ahead
  size_t bytes = 0;
  std::byte* begin() const { return memory ? memory->data() : data.get(); }
  std::span<const std::byte> span() const { return {begin(), bytes}; }
  // Of its own.
  size_t memory_bytes() const { return data.get_deleter().bytes; }
};
using RenderedRef = std::shared_ptr<const RenderedFile>;

}  // namespace augur
