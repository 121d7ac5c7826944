// SPDX-License-Identifier: Apache-2.0
#include "fuse/lasting_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "fs/read_reply.h"
#include "fuse/uring_transport.h"

namespace augur {
namespace {

// The largest that the rings may be; what is not written takes no memory.
off_t FileBytes() {
  return static_cast<off_t>(LastingState::RingsOffset() + UringTransport::AreaBytes(UringTransport::QueueCount(),
                                                                                    UringQueue::kDepthMax,
                                                                                    kReadBytesMax));
}

Result<void*> Map(int fd) {
  void* const memory = mmap(nullptr, sizeof(LastingState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) return ErrnoStatus(errno, "memory for what outlives a daemon");
  return memory;
}

}  // namespace

size_t LastingState::RingsOffset() {
  constexpr size_t kPage = size_t{64} << 10;  // the largest that a kernel has
  return (sizeof(LastingState) + kPage - 1) / kPage * kPage;
}

LastingState::Header LastingState::ThisHeader() {
  return {.magic = {'a', 'u', 'g', 'u', 'r', 'h', 'l', 'd'}, .layout = kLayout, .bytes = sizeof(LastingState)};
}

Result<LastingState::Shared> LastingState::Make() {
  UniqueFd fd(memfd_create("augurfs-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // A daemon that may be another user's has it: one that made it smaller would kill the holder.
  if (!fd.valid() || ftruncate(fd.get(), FileBytes()) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoStatus(errno, "memory for what outlives a daemon");
  }
  // Zero, as LastingViews and LastingNumbers want it. Its pages are had as they are written.
  AUGUR_TRY_ASSIGN(memory, Map(fd.get()));
  // ... and views and numbers stay as they are.
  return Shared{.state = new (memory) LastingState, .fd = std::move(fd)};
}

Result<LastingState*> LastingState::Open(int fd) {
  Header found{};
  const Header own = ThisHeader();
  if (pread(fd, &found, sizeof found, 0) != sizeof found || found.magic != own.magic) {
    return Status(Code::kInvalid, "this descriptor is not the state of a mount");
  }
  struct stat info {};
  const bool is_whole = fstat(fd, &info) == 0 && info.st_size == FileBytes();
  if (found != own || !is_whole) {
    const auto name = [](const Header& one) { return std::to_string(one.layout) + "-" + std::to_string(one.bytes); };
    return Status(Code::kUnsupported, "the mount keeps its state in layout " + name(found) +
                                          ", and this program knows " + name(own) +
                                          ": it cannot go on with this mount: unmount, and mount again with it");
  }
  AUGUR_TRY_ASSIGN(memory, Map(fd));
  return std::launder(static_cast<LastingState*>(memory));
}

}  // namespace augur
