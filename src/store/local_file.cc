// SPDX-License-Identifier: Apache-2.0
#include "store/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/aligned_memory.h"
#include "base/check.h"
#include "base/network_file_system.h"
#include "base/regular_file.h"
#include "store/file_io.h"

namespace augur {
namespace {

// Bytes that are copied at once.
constexpr uint64_t kPieceBytes = kBlockBytes;

// The alignment that the kernel states for O_DIRECT on this file: 0 when it refuses O_DIRECT, nothing when it says
// nothing (before Linux 6.1, and many file systems).
std::optional<uint32_t> StatedAlign(int fd) {
#ifdef STATX_DIOALIGN
  struct statx stat {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stat) == 0 && (stat.stx_mask & STATX_DIOALIGN) != 0) {
    return std::max(stat.stx_dio_mem_align, stat.stx_dio_offset_align);
  }
#else
  static_cast<void>(fd);
#endif
  return std::nullopt;
}

bool ProbeRead(int fd) {
  const AlignedMemory memory = AllocateAligned(kAlignMax, kAlignMax);
  return memory != nullptr && ::pread(fd, memory.get(), kAlignMax, 0) >= 0;
}

bool IsMultiple(uint64_t number, uint64_t align) { return number % align == 0; }

}  // namespace

Result<std::shared_ptr<LocalFile>> LocalFile::Of(UniqueFd fd, std::string path) {
  struct stat stat {};
  if (::fstat(fd.get(), &stat) != 0) return ErrnoStatus(errno, path);
  AUGUR_TRY(CheckRegular(stat.st_mode, path));
  return std::shared_ptr<LocalFile>(
      new LocalFile(std::move(fd), std::move(path), static_cast<uint64_t>(stat.st_size), stat.st_mtim));
}

LocalFile::LocalFile(UniqueFd fd, std::string path, uint64_t bytes, timespec mtime)
    : StoredFile(std::move(path), bytes),
      fd_(std::move(fd)),
      mtime_(mtime),
      network_(IsOnNetworkFileSystem(fd_.get())) {}

bool LocalFile::IsLost(int error) const { return IsLostHandle(error, network_); }

// The rule: O_DIRECT wherever it works, on network file systems too. The daemon's own mount has a page cache, which
// holds each file once, and the daemon reads no record twice; a second copy below takes memory and a copy of each byte.
// And the page cache below asks a server for its read-ahead (128 KiB) at a time and waits for it, where O_DIRECT asks
// for a whole read at once. Measured on a FUSE file system with 10 ms a read, random reads by io_uring, MB/s:
//                         buffered   buffered, FADV_RANDOM   O_DIRECT
//   112 KiB, 32 at once         55                     104        219
//   1 MiB, 8 at once           178                     109        643
//   4 MiB, 4 at once           106                      55      1,154
// With 1 ms: 215, 170, 361; 342, 245, 752; 471, 282, 1,213. A file system that cannot do it says so at the first read
// (SMB, unless it is mounted with cache=none), and is read through the page cache.
void LocalFile::TryDirect() {
  const std::optional<uint32_t> stated = StatedAlign(fd());
  // Where the kernel does not tell the alignment, the coarsest is tried.
  const uint32_t align = stated.value_or(kAlignMax);
  if (align == 0 || align > kAlignMax || !std::has_single_bit(align)) return;
  const int flags = ::fcntl(fd(), F_GETFL);
  if (flags < 0 || ::fcntl(fd(), F_SETFL, flags | O_DIRECT) != 0) return;
  if (!stated.has_value() && !ProbeRead(fd())) {
    ::fcntl(fd(), F_SETFL, flags);
    return;
  }
  direct_ = true;
  align_ = align;
}

// Reads [offset, offset + bytes), which O_DIRECT takes as they are, up to `needed` bytes of it at least.
Status LocalFile::ReadAligned(std::byte* memory, uint64_t bytes, uint64_t offset, uint64_t needed, bool* lost) const {
  for (uint64_t done = 0; done < needed;) {
    // After a short read that is not at the end of the file, O_DIRECT wants to go on at a multiple again.
    const uint64_t begin = done / align_ * align_;
    const ssize_t got = ::pread(fd(), memory + begin, bytes - begin, static_cast<off_t>(offset + begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      *lost = IsLost(errno);
      return ErrnoStatus(errno, path() + ": bytes from " + std::to_string(offset + begin));
    }
    const uint64_t reached = begin + static_cast<uint64_t>(got);
    if (reached <= done) {
      return {Code::kCorrupt, path() + ": ends at byte " + std::to_string(offset + reached) +
                                  ": it has been truncated since it was opened"};
    }
    done = reached;
  }
  return Status::Ok();
}

Status LocalFile::ReadAt(std::span<std::byte> out, uint64_t offset, bool* lost) const {
  *lost = false;
  if (IsMultiple(reinterpret_cast<uintptr_t>(out.data()), align_) && IsMultiple(offset, align_)) {
    const uint64_t whole = out.size() / align_ * align_;
    AUGUR_TRY(ReadAligned(out.data(), whole, offset, whole, lost));
    out = out.subspan(whole);
    offset += whole;
    if (out.empty()) return Status::Ok();
  }
  const AlignedMemory memory = AllocateAligned(
      kAlignMax, std::min<uint64_t>(out.size(), kPieceBytes) / kAlignMax * kAlignMax + 2 * uint64_t{kAlignMax});
  AUGUR_CHECK(memory != nullptr);
  while (!out.empty()) {
    const auto piece = out.first(std::min<uint64_t>(out.size(), kPieceBytes));
    const uint64_t begin = offset / align_ * align_;
    const uint64_t end = (offset + piece.size() + align_ - 1) / align_ * align_;
    AUGUR_TRY(ReadAligned(memory.get(), end - begin, begin, offset + piece.size() - begin, lost));
    std::memcpy(piece.data(), memory.get() + (offset - begin), piece.size());
    out = out.subspan(piece.size());
    offset += piece.size();
  }
  return Status::Ok();
}

}  // namespace augur
