// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "cache/buffer_pool.h"
#include "cache/sealable_buffer.h"

namespace augur {

// The bytes of one block; shared by the cache and by replies under way. They lie in a buffer of their own, or in a
// chunk that many blocks were read into at once. A chunk lives as long as one of its blocks is in use. Nothing can
// write to them any more: a buffer of their own has no other owner, and the part of a chunk is sealed.
class CachedBlock {
 public:
  CachedBlock() = default;
  // Takes `buffer` for good; the block is [begin, begin + bytes) of it, since an O_DIRECT read starts before the
  // record. REQUIRES: the read into it has ended.
  CachedBlock(Buffer buffer, size_t begin, size_t bytes) : own_(std::move(buffer)) {
    AUGUR_CHECK(begin <= own_.bytes() && bytes <= own_.bytes() - begin);
    bytes_ = {std::as_const(own_).data() + begin, bytes};
  }
  // A sealed part of `chunk`.
  CachedBlock(std::shared_ptr<const SealableBuffer> chunk, size_t begin, size_t bytes)
      : chunk_(std::move(chunk)), bytes_(chunk_->Sealed(begin, bytes)) {}

  std::span<const std::byte> span() const { return bytes_; }
  size_t bytes() const { return bytes_.size(); }
  bool in_chunk() const { return chunk_ != nullptr; }
  explicit operator bool() const { return in_chunk() || own_; }
  // Of its own buffer.
  size_t own_bytes() const { return own_.bytes(); }

 private:
  Buffer own_;
  std::shared_ptr<const SealableBuffer> chunk_;  // instead
  std::span<const std::byte> bytes_;
};
using BlockRef = std::shared_ptr<const CachedBlock>;

}  // namespace augur
