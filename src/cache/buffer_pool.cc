// SPDX-License-Identifier: Apache-2.0
#include "cache/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kHugePageBytes = 2 << 20;

}  // namespace

// The parts of the arena that are not handed out, in granules; no two of them touch.
struct BufferPool::Gaps {
  std::map<uint64_t, uint64_t> by_place;              // begin to length
  std::set<std::pair<uint64_t, uint64_t>> by_length;  // length and begin

  void Add(uint64_t begin, uint64_t length) {
    by_place.emplace(begin, length);
    by_length.emplace(length, begin);
  }

  void Remove(std::map<uint64_t, uint64_t>::iterator gap) {
    by_length.erase({gap->second, gap->first});
    by_place.erase(gap);
  }

  // Best fit, the lowest place first: what is left of a gap is small, and the memory touched grows late.
  std::optional<uint64_t> Take(uint64_t length) {
    const auto best = by_length.lower_bound({length, 0});
    if (best == by_length.end()) return std::nullopt;
    const auto [gap_length, begin] = *best;
    Remove(by_place.find(begin));
    if (gap_length > length) Add(begin + length, gap_length - length);
    return begin;
  }

  void Give(uint64_t begin, uint64_t length) {
    const auto after = by_place.lower_bound(begin);
    if (after != by_place.end() && after->first == begin + length) {
      length += after->second;
      Remove(after);
    }
    auto before = by_place.lower_bound(begin);
    if (before != by_place.begin() && (--before)->first + before->second == begin) {
      begin = before->first;
      length += before->second;
      Remove(before);
    }
    Add(begin, length);
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

BufferPool::BufferPool(uint64_t bytes_max)
    : granule_count_(bytes_max / kGranuleBytes), gaps_(std::make_unique<Gaps>()) {
  if (granule_count_ == 0) return;
  reserved_bytes_ = granule_count_ * kGranuleBytes + kHugePageBytes;
  void* const reserved =
      ::mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    granule_count_ = 0;
    return;
  }
  reserved_ = reserved;
  const auto address = reinterpret_cast<uintptr_t>(reserved);
  arena_ = static_cast<std::byte*>(reserved) + (kHugePageBytes - address % kHugePageBytes) % kHugePageBytes;
  // Whole huge pages only: one that reaches past the end would be memory beyond the limit. Where the kernel has none,
  // ordinary pages do.
  (void)::madvise(arena_, granule_count_ * kGranuleBytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  const MutexLock lock(mu_);
  gaps_->Add(0, granule_count_);
}

BufferPool::~BufferPool() {
  const MutexLock lock(mu_);
  AUGUR_CHECK(used_granules_ == 0);
  if (reserved_ != nullptr) ::munmap(reserved_, reserved_bytes_);
}

// Nothing asked for is one granule, too: an empty Buffer means refused.
uint64_t BufferPool::Granules(size_t bytes) {
  return bytes == 0 ? 1 : bytes / kGranuleBytes + (bytes % kGranuleBytes != 0 ? 1 : 0);
}

bool BufferPool::CanEverHold(size_t bytes) const { return Granules(bytes) <= granule_count_; }

uint64_t BufferPool::blocks_max(size_t bytes) const {
  if (!CanEverHold(bytes)) return 0;
  // k buffers of n granules leave k + 1 gaps, which are all too small for one more only while the whole is at most
  // k n + (k + 1)(n - 1).
  const uint64_t n = Granules(bytes);
  return 1 + (granule_count_ - n) / (2 * n - 1);
}

Buffer BufferPool::Allocate(size_t bytes) {
  const uint64_t granules = Granules(bytes);
  const MutexLock lock(mu_);
  const std::optional<uint64_t> begin = gaps_->Take(granules);
  return begin ? Hand(*begin, granules) : Buffer();
}

std::vector<Buffer> BufferPool::AllocateAll(std::span<const size_t> bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> taken;  // begin and length
  std::vector<Buffer> buffers;
  const MutexLock lock(mu_);
  for (const size_t one : bytes) {
    const std::optional<uint64_t> begin = gaps_->Take(Granules(one));
    if (!begin) {
      for (const auto& [given, length] : taken) gaps_->Give(given, length);
      return buffers;
    }
    taken.emplace_back(*begin, Granules(one));
  }
  for (const auto& [begin, length] : taken) buffers.push_back(Hand(begin, length));
  return buffers;
}

Buffer BufferPool::Hand(uint64_t begin, uint64_t granules) {
  used_granules_ += granules;
  touched_granules_ = std::max(touched_granules_, begin + granules);
  Buffer buffer;
  buffer.pool_ = this;
  buffer.data_ = arena_ + begin * kGranuleBytes;
  buffer.bytes_ = granules * kGranuleBytes;
  return buffer;
}

void BufferPool::Free(std::byte* data, size_t bytes) {
  std::shared_ptr<const std::function<void()>> hook;
  {
    const MutexLock lock(mu_);
    gaps_->Give(static_cast<uint64_t>(data - arena_) / kGranuleBytes, bytes / kGranuleBytes);
    used_granules_ -= bytes / kGranuleBytes;
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
  return used_granules_ * kGranuleBytes;
}

uint64_t BufferPool::touched_bytes() const {
  const MutexLock lock(mu_);
  const uint64_t huge_pages = (touched_granules_ * kGranuleBytes + kHugePageBytes - 1) / kHugePageBytes;
  return std::min(huge_pages * kHugePageBytes, bytes_max());
}

}  // namespace augur
