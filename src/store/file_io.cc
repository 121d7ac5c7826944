// SPDX-License-Identifier: Apache-2.0
#include "store/file_io.h"

#include <unistd.h>

#include <cerrno>

namespace augur {

Status WriteAt(int fd, const std::string& path, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, path);
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return Status::Ok();
}

Status ReadAt(int fd, const std::string& path, std::span<std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, path);
    }
    if (done == 0) return {Code::kCorrupt, path + ": ends at byte " + std::to_string(offset) + ", too early"};
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return Status::Ok();
}

Status SyncFile(int fd, const std::string& path) {
  while (::fdatasync(fd) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, path);
  }
  return Status::Ok();
}

}  // namespace augur
