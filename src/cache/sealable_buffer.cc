// SPDX-License-Identifier: Apache-2.0
#include "cache/sealable_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace augur {
namespace {

using Range = SealableBuffer::Range;

bool Overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

SealableBuffer::Writing::~Writing() {
  if (owner_ == nullptr) return;
  const auto own = std::ranges::find(owner_->writing_, range_);
  AUGUR_CHECK(own != owner_->writing_.end());
  owner_->writing_.erase(own);
}

SealableBuffer::~SealableBuffer() { AUGUR_CHECK(writing_.empty()); }

Range SealableBuffer::Within(size_t begin, size_t bytes) const {
  AUGUR_CHECK(begin <= buffer_.bytes() && bytes <= buffer_.bytes() - begin);
  return {.begin = begin, .end = begin + bytes};
}

SealableBuffer::Writing SealableBuffer::Write(size_t begin, size_t bytes) {
  const Range range = Within(begin, bytes);
  for (const Range& other : sealed_) AUGUR_CHECK(!Overlap(range, other));
  for (const Range& other : writing_) AUGUR_CHECK(!Overlap(range, other));
  writing_.push_back(range);
  return {this, range};
}

std::span<const std::byte> SealableBuffer::Seal(size_t begin, size_t bytes) {
  Range range = Within(begin, bytes);
  for (const Range& other : writing_) AUGUR_CHECK(!Overlap(range, other));
  // Those that it touches become one with it.
  const auto first = std::ranges::partition_point(sealed_, [&](const Range& other) { return other.end < range.begin; });
  auto last = first;
  for (; last != sealed_.end() && last->begin <= range.end; ++last) {
    range = {.begin = std::min(range.begin, last->begin), .end = std::max(range.end, last->end)};
  }
  sealed_.insert(sealed_.erase(first, last), range);
  return {std::as_const(buffer_).data() + begin, bytes};
}

std::span<const std::byte> SealableBuffer::Sealed(size_t begin, size_t bytes) const {
  AUGUR_CHECK(Unsealed(begin, bytes).empty());
  return {buffer_.data() + begin, bytes};
}

std::vector<Range> SealableBuffer::Unsealed(size_t begin, size_t bytes) const {
  const Range range = Within(begin, bytes);
  std::vector<Range> parts;
  size_t at = range.begin;
  for (const Range& sealed : sealed_) {
    if (!Overlap(sealed, range)) continue;
    if (at < sealed.begin) parts.push_back({.begin = at, .end = sealed.begin});
    at = sealed.end;
  }
  if (at < range.end) parts.push_back({.begin = at, .end = range.end});
  return parts;
}

}  // namespace augur
