// SPDX-License-Identifier: Apache-2.0
#include "base/read_at.h"

#include <unistd.h>

#include <cerrno>

namespace augur {

Result<size_t> ReadUpTo(int fd, const std::string& name, std::span<std::byte> bytes, uint64_t offset) {
  size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t done = ::pread(fd, bytes.data() + read, bytes.size() - read, static_cast<off_t>(offset + read));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return ErrnoStatus(errno, name);
    if (done == 0) break;
    read += static_cast<size_t>(done);
  }
  return read;
}

}  // namespace augur
