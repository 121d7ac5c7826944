// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "cache/buffer_pool.h"

namespace augur {

// SealableBuffer is memory that is filled in parts and handed out in parts: one read of the disk brings many records.
//
// Invariant: no byte is written after it was sealed, until the memory goes back to its pool with the last reference.
// The type holds it: a writable address comes from a Writing alone, there is no Writing of a sealed byte, and no byte
// under a Writing is sealed. Whoever tries ends the program. Bytes are sealed first and checked then, so the bytes that
// were checked are the bytes that are delivered.
//
// One thread at a time writes and seals; any thread may read sealed bytes. Not for a buffer that holds one block: a
// CachedBlock takes that as a whole, and gives out no writable address of it.
class SealableBuffer {
 public:
  // In bytes of the buffer.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    bool operator==(const Range&) const = default;
  };

  // The right to write to a part of the buffer, as a read of the disk does until it has ended. REQUIRES: the buffer
  // outlives it.
  class Writing {
   public:
    Writing(Writing&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), range_(other.range_) {}
    Writing(const Writing&) = delete;
    Writing& operator=(Writing&&) = delete;
    Writing& operator=(const Writing&) = delete;
    ~Writing();

    std::byte* data() const { return owner_->buffer_.data() + range_.begin; }
    size_t bytes() const { return range_.end - range_.begin; }

   private:
    friend class SealableBuffer;
    Writing(SealableBuffer* owner, Range range) : owner_(owner), range_(range) {}

    SealableBuffer* owner_;  // nullptr when moved from
    Range range_;
  };

  explicit SealableBuffer(Buffer buffer) : buffer_(std::move(buffer)) {}
  ~SealableBuffer();
  SealableBuffer(const SealableBuffer&) = delete;
  SealableBuffer& operator=(const SealableBuffer&) = delete;

  size_t bytes() const { return buffer_.bytes(); }

  // REQUIRES: the range lies in the buffer, no byte of it is sealed or under another Writing.
  Writing Write(size_t begin, size_t bytes);
  // Seals the range for good and gives its bytes. Sealing twice changes nothing. REQUIRES: the range lies in the
  // buffer, and no byte of it is under a Writing.
  std::span<const std::byte> Seal(size_t begin, size_t bytes);

  // The bytes of a sealed range. REQUIRES: all of it is sealed.
  std::span<const std::byte> Sealed(size_t begin, size_t bytes) const;
  // The parts of the range that are not sealed, in order.
  std::vector<Range> Unsealed(size_t begin, size_t bytes) const;

 private:
  Range Within(size_t begin, size_t bytes) const;

  Buffer buffer_;
  std::vector<Range> sealed_;   // in order; no two touch
  std::vector<Range> writing_;  // in any order
};

}  // namespace augur
