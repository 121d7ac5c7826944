// SPDX-License-Identifier: Apache-2.0
// old_kernel: preloaded (LD_PRELOAD) into a FUSE daemon, it makes the kernel look as one before Linux 6.9, which cannot
// hand out a dead daemon's requests again: FUSE_INIT comes without FUSE_HAS_RESEND.

#include <linux/fuse.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace {

constexpr unsigned kHasResend = 1U << 7;  // bit 39 of both words of flags

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the C library's
extern "C" ssize_t read(int fd, void* buffer, size_t bytes) {
  const ssize_t got = syscall(SYS_read, fd, buffer, bytes);
  struct {
    fuse_in_header header;
    fuse_init_in init;
  } request{};
  if (got != static_cast<ssize_t>(sizeof request)) return got;
  std::memcpy(&request, buffer, sizeof request);
  if (request.header.opcode != FUSE_INIT || request.header.len != sizeof request) return got;
  request.init.flags2 &= ~kHasResend;
  std::memcpy(buffer, &request, sizeof request);
  return got;
}
