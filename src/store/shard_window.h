// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "augur/status.h"
#include "augur/store.h"
#include "base/aligned_memory.h"

namespace augur {

// ShardWindow reads a shard in large pieces for those who take it in small ones. It is a copy in memory of up to 1 MiB
// of one shard, which moves on when bytes outside are asked for. It begins where O_DIRECT may read.
// One thread at a time. Holds its shard open and at most 1 MiB + 8 KiB. Checks no checksum.
class ShardWindow {
 public:
  static constexpr uint64_t kBytesMax = 1 << 20;

  ShardWindow() = default;
  ShardWindow(const ShardWindow&) = delete;
  ShardWindow& operator=(const ShardWindow&) = delete;

  // The bytes at [offset, offset + bytes) of `file`, valid until the next call. When the window must move, it reads on
  // to `read_ahead_end` (an offset), or until it is full; a failure there does not matter. kIo: the disk failed.
  // kCorrupt: the file has become shorter. REQUIRES: bytes <= kBytesMax, and they lie in the file.
  Result<std::span<const std::byte>> Get(const std::shared_ptr<const StoredFile>& file, uint64_t offset, uint64_t bytes,
                                         uint64_t read_ahead_end);

 private:
  // Makes the window [begin, end), which may begin up to kAlignMax earlier.
  Status Fill(uint64_t begin, uint64_t end);

  std::shared_ptr<const StoredFile> file_;
  AlignedMemory memory_;
  uint64_t begin_ = 0;  // of the window in the file
  uint64_t end_ = 0;
};

}  // namespace augur
