// SPDX-License-Identifier: Apache-2.0
#include "pack/spool_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/read_at.h"
#include "base/units.h"

namespace augur {

Result<std::unique_ptr<SpoolFile>> SpoolFile::Make(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.valid()) {  // overlayfs and network file systems may lack O_TMPFILE
    std::string name = folder + "/.spool-XXXXXX";
    fd.Reset(::mkostemp(name.data(), O_CLOEXEC));
    if (!fd.valid()) return ErrnoStatus(errno, Printable(folder) + ": a temporary file");
    ::unlink(name.c_str());
  }
  return std::unique_ptr<SpoolFile>(new SpoolFile(folder, std::move(fd)));
}

Status SpoolFile::Write(uint64_t offset, std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(n < 0 ? errno : EIO, Printable(folder_) + ": a temporary file");
    done += static_cast<size_t>(n);
  }
  return {};
}

Result<size_t> SpoolFile::Read(uint64_t offset, std::span<std::byte> bytes) const {
  return ReadUpTo(fd_.get(), Printable(folder_) + ": a temporary file", bytes, offset);
}

}  // namespace augur
