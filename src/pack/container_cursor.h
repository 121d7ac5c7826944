// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"

namespace augur {

// ContainerCursor goes through a container from its beginning to its end. It hands out bytes in one piece whatever the
// pieces of the input, and copies those only that lie across two. One thread. Memory: the largest piece that was taken.
class ContainerCursor {
 public:
  // The most bytes of one Take: a record, or the table of a shard. Images are smaller by far, and a length that was
  // damaged is seen before memory is asked for.
  static constexpr uint64_t kTakeBytesMax = uint64_t{1} << 30;

  // The container must outlive it.
  explicit ContainerCursor(Container& container) : container_(container) {}

  // Of the next byte in the container.
  uint64_t offset() const { return offset_; }
  // Bytes that follow, as the container's size says.
  uint64_t left() const { return container_.bytes > offset_ ? container_.bytes - offset_ : 0; }

  // The next `bytes` bytes, valid until the next call. kCorrupt: the container ends within them. kUnsupported: they are
  // more than kTakeBytesMax. What the input failed with. The texts begin with the container's name; `what` says what
  // the bytes are.
  Result<std::span<const std::byte>> Take(uint64_t bytes, std::string_view what);
  // Some of the next bytes, not more than `bytes_max` and at least one, without a copy; valid until the call after the
  // next one. Fails as Take does, of any size. REQUIRES: bytes_max > 0.
  Result<std::span<const std::byte>> TakeSome(uint64_t bytes_max, std::string_view what);
  // Passes over as many. Fails as Take does.
  Status Skip(uint64_t bytes, std::string_view what);

 private:
  Status EndsWithin(std::string_view what) const;
  // The next piece, when there is nothing left of the one before. False: there is none.
  Result<bool> Fill();

  Container& container_;
  uint64_t offset_ = 0;
  std::span<const std::byte> piece_;  // of the input, the bytes not taken yet
  std::vector<std::byte> joined_;
};

}  // namespace augur
