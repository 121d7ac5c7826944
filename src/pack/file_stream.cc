// SPDX-License-Identifier: Apache-2.0
#include "pack/file_stream.h"

#include <unistd.h>

#include <cerrno>

namespace augur {

Status FileStream::ReadAt(uint64_t offset, std::span<std::byte> out) {
  const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
  if (got < 0) return ErrnoStatus(errno, "reading a part again");
  return static_cast<size_t>(got) == out.size() ? Status::Ok() : Status(Code::kChanged, "ends before it did");
}

}  // namespace augur
