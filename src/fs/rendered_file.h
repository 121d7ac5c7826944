// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/recycled_memory.h"
#include "cache/sealable_buffer.h"

namespace augur {

// The bytes of a whole file of a view. It is handed out once it is made, and its receivers cannot write to it.
struct RenderedFile {
  RecycledMemory::Piece<std::byte> data;
  std::shared_ptr<const SealableBuffer> memory = nullptr;  // instead: of who asked for it ahead, sealed
  size_t bytes = 0;
  std::span<const std::byte> span() const {
    return memory ? memory->Sealed(0, bytes) : std::span<const std::byte>(data.get(), bytes);
  }
  // Of its own.
  size_t memory_bytes() const { return data.get_deleter().bytes; }
};
using RenderedRef = std::shared_ptr<const RenderedFile>;

}  // namespace augur
