// SPDX-License-Identifier: Apache-2.0
#include "cache/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace augur {
namespace {

void Unmap(std::byte* data, size_t bytes) {
  if (::munmap(data, bytes) == 0) return;
  // ENOMEM: the hole would be one mapping too many (vm.max_map_count). Then the memory goes and the address stays,
  // which costs nothing but a number that nobody uses again.
  AUGUR_CHECK(::madvise(data, bytes, MADV_DONTNEED) == 0);
}

}  // namespace

// Buffers kept for reuse. There are few sizes: a record's blocks are at most 1 MiB and an edge (17 granules).
struct BufferPool::Lists {
  std::map<size_t, std::vector<std::byte*>> by_size;  // no empty vectors

  std::byte* Take(size_t bytes) {
    const auto list = by_size.find(bytes);
    if (list == by_size.end()) return nullptr;
    std::byte* data =
        list->second.back();  // the last one freed, whose pages are the likeliest in the processor's cache
    list->second.pop_back();
    if (list->second.empty()) by_size.erase(list);
    return data;
  }

  // Unmaps one of the size of which the most bytes are kept; the bytes that this gave, 0 when nothing is kept.
  size_t UnmapOne() {
    if (by_size.empty()) return 0;
    const auto most = std::max_element(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
      return a.first * a.second.size() < b.first * b.second.size();
    });
    const size_t bytes = most->first;
    Unmap(Take(bytes), bytes);
    return bytes;
  }
};

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    const Buffer old = std::move(*this);  // freed last: it may lead to calls that see us
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Buffer::~Buffer() {
  if (pool_ != nullptr) pool_->Free(data_, bytes_);
}

BufferPool::BufferPool(uint64_t bytes_max) : bytes_max_(bytes_max), lists_(std::make_unique<Lists>()) {}

BufferPool::~BufferPool() {
  const MutexLock lock(mu_);
  AUGUR_CHECK(used_bytes_ == 0);
  while (lists_->UnmapOne() > 0) continue;
}

// Nothing asked for is one granule, too: an empty Buffer means refused.
size_t BufferPool::Rounded(size_t bytes) {
  return bytes == 0 ? kGranuleBytes : (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
}

bool BufferPool::CanEverHold(size_t bytes) const { return bytes <= bytes_max_ && Rounded(bytes) <= bytes_max_; }

uint64_t BufferPool::blocks_max(size_t bytes) const { return CanEverHold(bytes) ? bytes_max_ / Rounded(bytes) : 0; }

Buffer BufferPool::Allocate(size_t bytes) { return Take(bytes, true); }

Buffer BufferPool::AllocateKept(size_t bytes) { return Take(bytes, false); }

Buffer BufferPool::Take(size_t bytes, bool may_unmap) {
  Buffer buffer;
  if (!CanEverHold(bytes)) return buffer;
  const size_t size = Rounded(bytes);
  std::byte* data = nullptr;
  {
    const MutexLock lock(mu_);
    if (used_bytes_ + size > bytes_max_) return buffer;
    data = lists_->Take(size);
    if (data == nullptr && !may_unmap && mapped_bytes_ + size > bytes_max_) return buffer;
    // Unmapping with the lock held: without it another thread could be refused while what it needs is on its way.
    while (data == nullptr && mapped_bytes_ + size > bytes_max_) mapped_bytes_ -= lists_->UnmapOne();
    used_bytes_ += size;
    if (data == nullptr) mapped_bytes_ += size;
  }
  if (data == nullptr) {
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      const MutexLock lock(mu_);
      used_bytes_ -= size;
      mapped_bytes_ -= size;
      return buffer;
    }
    data = static_cast<std::byte*>(mapped);
  }
  buffer.pool_ = this;
  buffer.data_ = data;
  buffer.bytes_ = size;
  return buffer;
}

void BufferPool::Free(std::byte* data, size_t bytes) {
  std::shared_ptr<const std::function<void()>> hook;
  {
    const MutexLock lock(mu_);
    lists_->by_size[bytes].push_back(data);
    used_bytes_ -= bytes;
    hook = free_hook_;
  }
  if (hook) (*hook)();
}

void BufferPool::SetFreeHook(std::function<void()> hook) {
  auto shared = hook ? std::make_shared<const std::function<void()>>(std::move(hook)) : nullptr;
  const MutexLock lock(mu_);
  free_hook_.swap(shared);
}

uint64_t BufferPool::used_bytes() const {
  const MutexLock lock(mu_);
  return used_bytes_;
}

uint64_t BufferPool::kept_bytes() const {
  const MutexLock lock(mu_);
  return mapped_bytes_ - used_bytes_;
}

uint64_t BufferPool::mapped_bytes() const {
  const MutexLock lock(mu_);
  return mapped_bytes_;
}

}  // namespace augur
