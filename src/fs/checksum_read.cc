// SPDX-License-Identifier: Apache-2.0
#include "fs/checksum_read.h"

#include <optional>
#include <utility>

#include "augur/store.h"
#include "base/crc32c.h"

namespace augur {

void ChecksumRead::Begin(BlockReader& blocks, const ViewFile& file, uint32_t crc_before, Done done) {
  std::shared_ptr<ChecksumRead>(new ChecksumRead(blocks, file, crc_before, std::move(done)))->Run();
}

// A block that is there calls back at once. The loop is in one place, so that a record of many blocks needs no deep
// stack.
void ChecksumRead::Run() {
  while (failure_.ok() && next_ < Store::BlockCount(file_.entry)) {
    if (AddRetained()) continue;
    block_ = Block::kAsked;
    blocks_.Get(file_.entry, next_, BlockReader::Use::kRead,
                [read = shared_from_this()](const Result<BlockRef>& block) { read->Arrived(block); });
    Block asked = Block::kAsked;
    if (block_.compare_exchange_strong(asked, Block::kAwaited)) return;  // Arrived goes on
  }
  if (!failure_.ok()) return done_(failure_);
  const uint32_t masked = MaskedCrc32c(crc_);
  Bytes bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(masked >> (8 * i));
  done_(bytes);
}

bool ChecksumRead::AddRetained() {
  const std::optional<RetainedCache::Pin> pin = blocks_.FindRetained(file_, next_);
  if (!pin) return false;
  for (const std::span<const std::byte> piece : pin->pieces()) crc_ = Crc32c(piece, crc_);
  ++next_;
  return true;
}

void ChecksumRead::Arrived(const Result<BlockRef>& block) {
  if (block.ok()) {
    crc_ = Crc32c((*block)->span().first(Store::BlockBytes(file_.entry, next_)), crc_);
    ++next_;
  } else {
    failure_ = block.status();
  }
  if (block_.exchange(Block::kArrived) == Block::kAwaited) Run();
}

}  // namespace augur
