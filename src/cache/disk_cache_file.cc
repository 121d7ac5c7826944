// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/aligned_memory.h"
#include "base/read_at.h"
#include "cache/disk_cache_sum.h"

namespace augur {
namespace {

Status Refused(const std::string& path, const char* cause, const char* cure) {
  return {Code::kPermission, path + ": " + cause + ": not used: " + cure};
}

uint64_t HeaderSum(const DiskCacheHeader& header) {
  return DiskCacheSum(std::as_bytes(std::span(&header, 1)).first(offsetof(DiskCacheHeader, sum)));
}

// Alignment that O_DIRECT wants; 0 when the file system refuses it.
uint32_t DirectAlign(int fd) {
#ifdef STATX_DIOALIGN
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) != 0) {
    return std::max(info.stx_dio_mem_align, info.stx_dio_offset_align);
  }
#else
  static_cast<void>(fd);
#endif
  return kDiskCachePageBytes;  // not told (before Linux 6.1, and by many file systems): a read will show
}

}  // namespace

Status CheckDiskCacheOwner(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid()) return Refused(path, "belongs to another user", "name a folder of your own");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Refused(path, "can be written by others", "chmod go-w it if its content can be trusted");
  }
  return Status::Ok();
}

Result<UniqueFd> OpenDiskCacheFile(int folder, const std::string& folder_path, const std::string& name, int flags) {
  const std::string path = folder_path + "/" + name;
  // O_NONBLOCK: nothing waits for the other end of a pipe of that name; it means nothing to a regular file.
  UniqueFd fd(::openat(folder, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() && errno == ELOOP) return Refused(path, "is a symbolic link", "remove it");
  if (!fd.valid()) return ErrnoStatus(errno, path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return Refused(path, "is not a regular file", "remove it");
  AUGUR_TRY(CheckDiskCacheOwner(info, path));
  if (info.st_nlink > 1) return Refused(path, "has a second name", "remove it");
  return fd;
}

Result<DiskCacheHeader> ReadDiskCacheHeader(int fd, const std::string& path) {
  DiskCacheHeader header{};
  AUGUR_TRY_ASSIGN(bytes, ReadUpTo(fd, path, std::as_writable_bytes(std::span(&header, 1)), 0));
  const auto all = std::as_bytes(std::span(&header, 1));
  if (std::all_of(all.begin(), all.end(), [](std::byte b) { return b == std::byte{0}; })) {
    return Status(Code::kBusy, path + ": has no header yet");
  }
  const auto damaged = [&] {
    return Status(Code::kCorrupt,
                  path + ": is not a segment of cached files, or its header is damaged: left alone; remove it");
  };
  if (bytes < sizeof(header) || header.magic != kDiskCacheMagic) return damaged();
  if (header.version != kDiskCacheVersion) {
    return Status(Code::kUnsupported, path +
                                          ": was made by another version of augurfs: left alone, though its size "
                                          "counts; remove it when that version is not used any more");
  }
  if (header.sum != HeaderSum(header) || header.log_bytes == 0 || header.log_bytes % kDiskCachePageBytes != 0 ||
      header.log_bytes > kDiskCachePageBytes * UINT32_MAX) {
    return damaged();
  }
  return header;
}

DiskCacheHeader MakeDiskCacheHeader(uint64_t id, uint64_t log_bytes) {
  DiskCacheHeader header{.magic = kDiskCacheMagic,
                         .version = kDiskCacheVersion,
                         .reserved = 0,
                         .id = id,
                         .log_bytes = log_bytes,
                         .sum = 0};
  header.sum = HeaderSum(header);
  return header;
}

void TryDiskCacheDirect(DiskCacheFile* file) {
  const uint32_t align = DirectAlign(file->fd.get());
  if (!std::has_single_bit(align) || align > kDiskCachePageBytes) return;
  const int flags = ::fcntl(file->fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(file->fd.get(), F_SETFL, flags | O_DIRECT) != 0) return;
  // The header's page, which is there: some file systems take the flag and refuse the read.
  const AlignedMemory memory = AllocateAligned(kDiskCachePageBytes, kDiskCachePageBytes);
  if (memory == nullptr || ::pread(file->fd.get(), memory.get(), kDiskCachePageBytes, 0) < 0) {
    ::fcntl(file->fd.get(), F_SETFL, flags);
    return;
  }
  file->direct = true;
  file->align = align;
}

bool LockDiskCacheBytes(int fd, int type, int64_t first, int64_t count) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);  // NOLINT(google-runtime-int): the field's type
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  int done = 0;
  do {
    done = ::fcntl(fd, F_OFD_SETLK, &lock);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

Status WriteDiskCache(int fd, const std::string& path, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return ErrnoStatus(done == 0 ? EIO : errno, path);
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return Status::Ok();
}

}  // namespace augur
