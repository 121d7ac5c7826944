// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace augur {

class BufferPool;

// A page-aligned piece of anonymous memory, given back to its pool when destroyed. Movable. A const one cannot be
// written.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }  // a multiple of BufferPool::kGranuleBytes
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class BufferPool;
  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// BufferPool holds all memory for record bytes: one piece of address space as large as the limit. Buffers are cut out
// of it and go back into it, neighbours joined again. Safe from any thread. Buffers must be gone before the pool. Not
// for anything but record bytes; a refused caller waits for a Buffer to be freed (RecordCache does).
//
// One piece, so that the kernel can back it with pages of 2 MiB (madvise MADV_HUGEPAGE). A direct read of 112 KiB then
// goes to one range of physical memory instead of 28. Such a read was measured at 124 us instead of 155 us (medians of
// four interleaved rounds of 4,000 random reads at depth 1). And a page is touched for the first time once, not once
// for each buffer.
class BufferPool {
 public:
  static constexpr size_t kGranuleBytes = 64 << 10;

  // `bytes_max` is rounded down to whole granules. Without that much address space every Allocate is refused.
  explicit BufferPool(uint64_t bytes_max);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer of at least `bytes`, from the smallest gap that has room, or an empty one when no gap has.
  Buffer Allocate(size_t bytes);
  // A buffer for each of `bytes`, or none at all when there are not gaps for all of them; the hook hears of no attempt.
  std::vector<Buffer> AllocateAll(std::span<const size_t> bytes);
  // Whether `bytes` fit when nothing else is handed out.
  bool CanEverHold(size_t bytes) const;
  // How many buffers of `bytes` it can hold at the same time, wherever the others happen to lie.
  uint64_t blocks_max(size_t bytes) const;

  // `hook` is called after each Buffer's end, on that thread and without a lock; one at a time, none when empty. It may
  // still run on another thread while this returns. A caller that was refused tries again in it.
  void SetFreeHook(std::function<void()> hook);

  uint64_t bytes_max() const { return uint64_t{granule_count_} * kGranuleBytes; }
  uint64_t used_bytes() const;     // handed out now
  uint64_t touched_bytes() const;  // memory that buffers have ever lain in; it stays the process's

 private:
  friend class Buffer;
  Buffer Hand(uint64_t begin, uint64_t granules) AUGUR_REQUIRES(mu_);
  void Free(std::byte* data, size_t bytes);
  static uint64_t Granules(size_t bytes);

  struct Gaps;
  // Constant after construction.
  uint64_t granule_count_;
  void* reserved_ = nullptr;
  size_t reserved_bytes_ = 0;
  std::byte* arena_ = nullptr;  // within `reserved_`, at a multiple of 2 MiB

  mutable Mutex mu_;
  uint64_t used_granules_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t touched_granules_ AUGUR_GUARDED_BY(mu_) = 0;
  std::unique_ptr<Gaps> gaps_ AUGUR_GUARDED_BY(mu_);
  std::shared_ptr<const std::function<void()>> free_hook_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
