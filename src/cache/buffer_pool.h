// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/mutex.h"

namespace augur {

class BufferPool;

// A page-aligned piece of anonymous memory, given back to its pool when destroyed. Movable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }  // a multiple of BufferPool::kGranuleBytes
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class BufferPool;
  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// BufferPool holds all memory for record bytes under one limit: what is handed out and what it keeps for reuse (first
// touch of a page costs more than reading it: facts). Safe from any thread. Buffers must be gone before the pool. Not
// for anything but record bytes; who is refused waits for a Buffer to be freed (RecordCache does).
class BufferPool {
 public:
  static constexpr size_t kGranuleBytes = 64 << 10;

  explicit BufferPool(uint64_t bytes_max);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer of at least `bytes`; an empty one when the limit leaves no room even after everything kept for reuse is
  // unmapped.
  Buffer Allocate(size_t bytes);
  // The same without unmapping anything: one that is kept, or a new one while there is room.
  Buffer AllocateKept(size_t bytes);
  // Whether `bytes` fit when nothing else is handed out.
  bool CanEverHold(size_t bytes) const;
  // How many buffers of `bytes` it can hold at the same time.
  uint64_t blocks_max(size_t bytes) const;

  // `hook` is called after each Buffer's end, on that thread and without a lock; one at a time, none when empty. It may
  // still run on another thread while this returns. Who was refused tries again in it.
  void SetFreeHook(std::function<void()> hook);

  uint64_t bytes_max() const { return bytes_max_; }
  uint64_t used_bytes() const;    // handed out now
  uint64_t kept_bytes() const;    // for reuse
  uint64_t mapped_bytes() const;  // handed out or kept; never over bytes_max

 private:
  friend class Buffer;
  Buffer Take(size_t bytes, bool may_unmap);
  void Free(std::byte* data, size_t bytes);
  static size_t Rounded(size_t bytes);

  struct Lists;
  const uint64_t bytes_max_;  // constant after construction
  mutable Mutex mu_;
  uint64_t used_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t mapped_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  std::unique_ptr<Lists> lists_ AUGUR_GUARDED_BY(mu_);  // free buffers by size
  std::shared_ptr<const std::function<void()>> free_hook_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
