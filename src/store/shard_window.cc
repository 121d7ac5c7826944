// SPDX-License-Identifier: Apache-2.0
#include "store/shard_window.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/check.h"

namespace augur {
namespace {

// A read is widened to the alignment on each side.
constexpr uint64_t kMemoryBytes = ShardWindow::kBytesMax + 2 * uint64_t{kAlignMax};

}  // namespace

void ShardWindow::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<std::span<const std::byte>> ShardWindow::Get(const std::shared_ptr<const ShardFile>& file, uint64_t offset,
                                                    uint64_t bytes, uint64_t read_ahead_end) {
  AUGUR_CHECK(bytes <= kBytesMax && offset <= file->bytes && bytes <= file->bytes - offset);
  const bool inside = file_ == file && offset >= begin_ && offset + bytes <= end_;
  if (!inside) {
    file_ = file;
    const uint64_t end = std::clamp(read_ahead_end, offset + bytes, std::min(file->bytes, offset + kBytesMax));
    Status status = Fill(offset, end);
    // A bad sector behind the bytes asked for is the trouble of whoever asks for those.
    if (!status.ok() && end > offset + bytes) status = Fill(offset, offset + bytes);
    if (!status.ok()) return status;
  }
  return std::span<const std::byte>(memory_.get() + (offset - begin_), bytes);
}

Status ShardWindow::Fill(uint64_t begin, uint64_t end) {
  if (memory_ == nullptr) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignMax, kMemoryBytes)));
    AUGUR_CHECK(memory_ != nullptr);
  }
  const uint64_t align = file_->align;
  AUGUR_CHECK(align > 0 && align <= kAlignMax);
  begin_ = begin / align * align;
  end_ = begin_;
  const uint64_t aligned_end = (end + align - 1) / align * align;
  while (end_ < end) {
    // After a short read that is not at the end of the file, O_DIRECT wants to go on at a multiple again.
    const uint64_t at = end_ / align * align;
    const ssize_t got = ::pread(file_->fd, memory_.get() + (at - begin_), aligned_end - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      end_ = begin_;
      return ErrnoStatus(errno, file_->path + ": bytes from " + std::to_string(at));
    }
    const uint64_t reached = at + static_cast<uint64_t>(got);
    if (reached <= end_) {
      end_ = begin_;
      return {Code::kCorrupt, file_->path + ": ends at byte " + std::to_string(reached) +
                                  ": it has been truncated since it was opened"};
    }
    end_ = reached;
  }
  return Status::Ok();
}

}  // namespace augur
