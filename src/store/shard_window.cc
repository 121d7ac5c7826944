// SPDX-License-Identifier: Apache-2.0
#include "store/shard_window.h"

#include <algorithm>

#include "base/check.h"

namespace augur {
namespace {

// A read is widened to the alignment on each side.
constexpr uint64_t kMemoryBytes = ShardWindow::kBytesMax + 2 * uint64_t{kAlignMax};

}  // namespace

Result<std::span<const std::byte>> ShardWindow::Get(const std::shared_ptr<const StoredFile>& file, uint64_t offset,
                                                    uint64_t bytes, uint64_t read_ahead_end) {
  AUGUR_CHECK(bytes <= kBytesMax && offset <= file->bytes() && bytes <= file->bytes() - offset);
  const bool inside = file_ == file && offset >= begin_ && offset + bytes <= end_;
  if (!inside) {
    file_ = file;
    const uint64_t end = std::clamp(read_ahead_end, offset + bytes, std::min(file->bytes(), offset + kBytesMax));
    Status status = Fill(offset, end);
    // A bad sector behind the bytes asked for is the trouble of whoever asks for those.
    if (!status.ok() && end > offset + bytes) status = Fill(offset, offset + bytes);
    if (!status.ok()) return status;
  }
  return std::span<const std::byte>(memory_.get() + (offset - begin_), bytes);
}

Status ShardWindow::Fill(uint64_t begin, uint64_t end) {
  if (memory_ == nullptr) {
    memory_ = AllocateAligned(kAlignMax, kMemoryBytes);
    AUGUR_CHECK(memory_ != nullptr);
  }
  begin_ = begin / kAlignMax * kAlignMax;
  end_ = end;
  const Status status = file_->ReadAt({memory_.get(), end_ - begin_}, begin_);
  if (!status.ok()) end_ = begin_;
  return status;
}

}  // namespace augur
