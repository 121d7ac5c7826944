// SPDX-License-Identifier: Apache-2.0
#include "fs/rendered_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

// With 16, one of 32 is taken for one that was rendered before.
constexpr uint64_t kBitsAFile = 16;
constexpr uint64_t kRenderedBitsMin = 1 << 10;
constexpr uint64_t kRenderedBitsMax = 1 << 23;

}  // namespace

RenderedCache::RenderedCache(uint64_t files)
    : rendered_(std::bit_ceil(std::clamp(kBitsAFile * files, kRenderedBitsMin, kRenderedBitsMax)), false) {}

RenderedCache::Found RenderedCache::Find(const RenderedKey& key, uint64_t bytes) {
  const auto found = files_.find(key);
  if (found == files_.end()) return {};
  const List::iterator held = found->second;
  const bool passed = held->unread == 0 && !held->again;
  if (passed && bytes > 0) {
    held->again = true;
    passed_bytes_ -= held->file->memory_bytes();
    recent_.splice(recent_.begin(), passed_, held);
  } else if (!passed) {
    recent_.splice(recent_.begin(), recent_, held);
    held->unread -= std::min(held->unread, bytes);
    if (held->unread == 0 && !held->again) SetPassed(held);
  }
  return {.file = held->file, .again = passed && bytes > 0};
}

bool RenderedCache::RenderedBefore(const RenderedKey& key) {
  std::vector<bool>::reference rendered = rendered_[RenderedKey::Hash()(key) & (rendered_.size() - 1)];
  const bool before = rendered;
  rendered = true;
  return before;
}

void RenderedCache::Add(const RenderedKey& key, RenderedRef file, uint64_t read_bytes, bool again) {
  bytes_ += file->memory_bytes();
  const uint64_t unread = file->bytes - std::min<uint64_t>(file->bytes, read_bytes);
  recent_.push_front({.key = key, .file = std::move(file), .unread = unread, .again = again});
  AUGUR_CHECK(files_.emplace(key, recent_.begin()).second);
  if (unread == 0 && !again) SetPassed(recent_.begin());
}

// The one that is set stays.
void RenderedCache::SetPassed(List::iterator held) {
  passed_bytes_ += held->file->memory_bytes();
  passed_.splice(passed_.begin(), recent_, held);
  while (passed_bytes_ > kPassedBytesMax && passed_.size() > 1) Drop(passed_);
}

void RenderedCache::DropOne() { Drop(passed_.empty() ? recent_ : passed_); }

void RenderedCache::Drop(List& from) {
  AUGUR_CHECK(!from.empty());
  const size_t memory = from.back().file->memory_bytes();
  bytes_ -= memory;
  if (&from == &passed_) passed_bytes_ -= memory;
  files_.erase(from.back().key);
  from.pop_back();
}

}  // namespace augur
