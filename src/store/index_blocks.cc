// SPDX-License-Identifier: Apache-2.0
#include "store/index_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

// Where a thread reads and checks a block, before it is put in its place. 64 KiB is too much for a stack, and one
// allocation a block too slow.
std::span<std::byte> ReadBuffer() {
  static thread_local std::vector<std::byte> buffer(IndexBlocks::kBlockBytes);
  return buffer;
}

}  // namespace

Result<std::unique_ptr<IndexBlocks>> IndexBlocks::Make(uint64_t block_count, Range kept, uint64_t bytes_max,
                                                       Read read) {
  const uint64_t bytes = std::max<uint64_t>(block_count, 1) * kBlockBytes;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    const Status status = ErrnoStatus(errno, "no address space of " + FormatSize(bytes) + " for the index");
    return Status(Code::kNoSpace, status.text() + ": raise ulimit -v");
  }
  // A process that is forked while blocks are held has no use for them.
  (void)::madvise(memory, bytes, MADV_DONTFORK);
  return std::unique_ptr<IndexBlocks>(
      new IndexBlocks(block_count, kept, bytes_max, std::move(read), static_cast<std::byte*>(memory)));
}

IndexBlocks::IndexBlocks(uint64_t block_count, Range kept, uint64_t bytes_max, Read read, std::byte* memory)
    : block_count_(block_count),
      kept_(kept),
      count_max_(std::max<uint64_t>(bytes_max / kBlockBytes, 1)),
      bounded_(block_count > count_max_),
      read_(std::move(read)),
      memory_(memory),
      held_(std::make_unique<BitSet>(block_count)),
      used_(std::make_unique<BitSet>(bounded_ ? block_count : 0)) {}

IndexBlocks::~IndexBlocks() { ::munmap(memory_, std::max<uint64_t>(block_count_, 1) * kBlockBytes); }

void IndexBlocks::CopyHeld(uint64_t offset, std::span<std::byte> out) const {
  std::memcpy(out.data(), memory_ + offset, out.size());
}

Status IndexBlocks::CopySlowly(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const uint64_t begin = offset % kBlockBytes;
    const size_t bytes = std::min<uint64_t>(out.size(), kBlockBytes - begin);
    AUGUR_TRY(CopyPiece(offset / kBlockBytes, begin, out.first(bytes)));
    out = out.subspan(bytes);
    offset += bytes;
  }
  return Status::Ok();
}

// Copies bytes of one block, from `begin` of it on.
Status IndexBlocks::CopyPiece(uint64_t block, uint64_t begin, std::span<std::byte> out) const {
  AUGUR_CHECK(block < block_count_);
  if (bounded_) {
    const MutexLock lock(LockOf(block));
    if (held_->Has(block)) {
      CopyHeld(block * kBlockBytes + begin, out);
      if (!used_->Has(block)) used_->Add(block);
      return Status::Ok();
    }
  }
  const std::span<std::byte> buffer = ReadBuffer();
  AUGUR_TRY(read_(block, buffer));
  std::ranges::copy(buffer.subspan(begin, out.size()), out.begin());
  Put(block, buffer);
  return Status::Ok();
}

Status IndexBlocks::Hold(uint64_t offset, uint64_t bytes) const {
  const uint64_t last = (offset + bytes - 1) / kBlockBytes;
  for (uint64_t block = offset / kBlockBytes; block <= last; ++block) {
    AUGUR_CHECK(kept_.Has(block));
    if (held_->Has(block)) continue;
    const std::span<std::byte> buffer = ReadBuffer();
    AUGUR_TRY(read_(block, buffer));
    Put(block, buffer);
  }
  return Status::Ok();
}

// Puts a checked block in its place, unless another thread was first: what is held may be in use, and is never written
// to again.
void IndexBlocks::Put(uint64_t block, std::span<const std::byte> bytes) const {
  if (bounded_) MakeRoom();
  const MutexLock lock(LockOf(block));
  if (held_->Has(block)) return;
  std::memcpy(memory_ + block * kBlockBytes, bytes.data(), kBlockBytes);
  held_->Add(block);
  ++(kept_.Has(block) ? kept_count_ : other_count_);
}

// Lets blocks go until there is room for one more.
void IndexBlocks::MakeRoom() const {
  const MutexLock hand_lock(hand_mu_);
  const uint64_t kept = kept_count_.load();
  const uint64_t others_max = std::max({count_max_ - std::min(kept, count_max_), count_max_ / 4, uint64_t{1}});
  // Two rounds: the first may do no more than clear the bits.
  for (uint64_t tries = 0; tries < 2 * block_count_ && other_count_.load() >= others_max; ++tries) {
    const uint64_t block = hand_;
    hand_ = (hand_ + 1) % block_count_;
    if (kept_.Has(block) || !held_->Has(block)) continue;
    if (used_->Has(block)) {
      used_->Remove(block);
      continue;
    }
    const MutexLock lock(LockOf(block));
    held_->Remove(block);
    --other_count_;
    ::madvise(memory_ + block * kBlockBytes, kBlockBytes, MADV_DONTNEED);
  }
}

}  // namespace augur
