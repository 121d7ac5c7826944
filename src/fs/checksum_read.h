// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "augur/status.h"
#include "fs/block_reader.h"
#include "prefetch/view_file.h"

namespace augur {

// ChecksumRead computes the masked CRC-32C that a TFRecord has behind an image. It is that of some bytes in front of
// the image, and of its record, which is read for that, one block at a time. So it holds no block while it waits for
// one. Made with Begin, owns itself until it has answered. REQUIRES: the blocks outlive it.
class ChecksumRead : public std::enable_shared_from_this<ChecksumRead> {
 public:
  // As it lies in the file.
  using Bytes = std::array<std::byte, 4>;
  using Done = std::function<void(const Result<Bytes>&)>;

  // `crc_before`: CRC-32C of the bytes in front. Calls `done` once, on any thread. Fails as BlockReader::Get.
  static void Begin(BlockReader& blocks, const ViewFile& file, uint32_t crc_before, Done done);

 private:
  // Where a block that was asked for is.
  enum class Block { kAsked, kAwaited, kArrived };

  ChecksumRead(BlockReader& blocks, const ViewFile& file, uint32_t crc_before, Done done)
      : blocks_(blocks), file_(file), done_(std::move(done)), crc_(crc_before) {}
  void Run();
  bool AddRetained();
  void Arrived(const Result<BlockRef>& block);

  // Constant after construction.
  BlockReader& blocks_;
  const ViewFile file_;
  const Done done_;

  // Used by one thread at a time: the one in Run, or the one that brings the block.
  uint64_t next_ = 0;  // block
  uint32_t crc_;
  Status failure_;

  std::atomic<Block> block_ = Block::kAsked;
};

}  // namespace augur
