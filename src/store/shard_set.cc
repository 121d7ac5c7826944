// SPDX-License-Identifier: Apache-2.0
#include "store/shard_set.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include "base/units.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/hash.h"

namespace augur {
namespace {

Status CheckOwnHeader(const ShardFile& file, const ShardInfo& info) {
  const auto corrupt = [&](const char* defect) {
    return Status(Code::kCorrupt, file.path + ": shard header: " + defect + ": " + ShardCure(info));
  };
  format::ShardHeader header;
  if (file.bytes < sizeof(header)) return corrupt("the file is shorter than it");
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&header, 1));
  AUGUR_TRY(ReadAt(file.fd, file.path, bytes, 0));
  if (header.magic != format::kShardMagic) return corrupt("wrong magic");
  if (!format::IsKnownVersion(header.version)) {
    return {Code::kUnsupported, file.path + ": shard header: version " + std::to_string(header.version) +
                                    ", this program reads versions 1 and 2: use a newer AugurFS"};
  }
  if (header.sum != HashBytes64(bytes.first(offsetof(format::ShardHeader, sum)))) return corrupt("checksum mismatch");
  if (header.generation != info.generation) return corrupt("its generation is not the one in the shard table");
  if (header.number != info.number) return corrupt("its shard number is not the one in the shard table");
  if (header.base_generation >= header.generation) return corrupt("its base generation is not below its own");
  const auto is_zero = [](uint8_t b) { return b == 0; };
  if (!std::all_of(header.reserved_32.begin(), header.reserved_32.end(), is_zero)) {
    return corrupt("reserved field is not zero");
  }
  return Status::Ok();
}

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
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kAlignMax, kAlignMax), &std::free);
  return memory != nullptr && ::pread(fd, memory.get(), kAlignMax, 0) >= 0;
}

// Turns O_DIRECT on where the file system takes it with an alignment that we can serve; else leaves the file as it is.
void TryDirect(ShardFile* file) {
  const std::optional<uint32_t> stated = StatedAlign(file->fd);
  // Where the kernel does not tell the alignment, the coarsest is tried.
  const uint32_t align = stated.value_or(kAlignMax);
  if (align == 0 || align > kAlignMax || !std::has_single_bit(align)) return;
  const int flags = ::fcntl(file->fd, F_GETFL);
  if (flags < 0 || ::fcntl(file->fd, F_SETFL, flags | O_DIRECT) != 0) return;
  if (!stated.has_value() && !ProbeRead(file->fd)) {
    ::fcntl(file->fd, F_SETFL, flags);
    return;
  }
  file->direct = true;
  file->align = align;
}

}  // namespace

ShardFile::~ShardFile() {
  if (fd >= 0) ::close(fd);
}

Result<std::shared_ptr<const ShardFile>> OpenShard(const ShardRights& rights, const ShardInfo& info, bool direct,
                                                   bool* token_differs) {
  *token_differs = false;
  auto file = std::make_shared<ShardFile>();
  file->path = Printable(info.path);
  AUGUR_TRY_ASSIGN(fd, rights.Open(info));
  file->fd = fd.Release();
  struct stat stat {};
  if (::fstat(file->fd, &stat) != 0) return ErrnoStatus(errno, file->path);
  file->bytes = static_cast<uint64_t>(stat.st_size);
  if (file->bytes != info.bytes) {
    return Status(Code::kCorrupt, file->path + ": the shard has " + std::to_string(file->bytes) +
                                      " bytes, the index says " + std::to_string(info.bytes) + ": " + ShardCure(info));
  }
  if (!info.foreign) AUGUR_TRY(CheckOwnHeader(*file, info));
  *token_differs = info.foreign && (stat.st_mtim.tv_sec != info.token_sec ||
                                    stat.st_mtim.tv_nsec != static_cast<int64_t>(info.token_nsec));
  if (direct) TryDirect(file.get());
  return std::shared_ptr<const ShardFile>(std::move(file));
}

ShardSet::ShardSet(const ShardRights& rights, bool direct, uint32_t open_max)
    : rights_(rights), direct_(direct), open_max_(std::max<size_t>(open_max, 1)) {}

std::shared_ptr<const ShardFile> ShardSet::Find(uint32_t number) {
  const MutexLock lock(mu_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return recent_.front().file;
}

Result<std::shared_ptr<const ShardFile>> ShardSet::Open(const ShardInfo& info) {
  bool token_differs = false;
  AUGUR_TRY_ASSIGN(file, OpenShard(rights_, info, direct_, &token_differs));
  std::shared_ptr<const ShardFile> let_go;  // closed after the lock is released
  bool warn = false;
  {
    const MutexLock lock(mu_);
    if (const auto found = by_number_.find(info.number); found != by_number_.end()) return found->second->file;
    recent_.push_front({.number = info.number, .file = file});
    by_number_[info.number] = recent_.begin();
    if (recent_.size() > open_max_) {
      let_go = std::move(recent_.back().file);
      by_number_.erase(recent_.back().number);
      recent_.pop_back();
    }
    warn = token_differs && warned_.insert(info.number).second;
  }
  if (warn) {
    spdlog::warn("{}: its time has changed since the store was made; its size has not, and the checksums decide",
                 file->path);
  }
  return file;
}

}  // namespace augur
