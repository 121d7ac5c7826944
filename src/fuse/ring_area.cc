// SPDX-License-Identifier: Apache-2.0
#include "fuse/ring_area.h"

#include <sys/mman.h>

#include <cerrno>

namespace augur {
namespace {

// Far from where the kernel puts programs, libraries, heaps and stacks, so that the next daemon finds it free. The
// kernel chooses another place where there is none (39 bits of addresses).
constexpr uintptr_t kLikelyFree = uintptr_t{0x1000'0000'0000};

}  // namespace

Result<RingArea> RingArea::Map(const Place& place, size_t bytes) {
  int flags = MAP_SHARED | MAP_NORESERVE;
  if (!place.file.valid()) flags |= MAP_ANONYMOUS;
  if (place.address != 0) flags |= MAP_FIXED_NOREPLACE;
  const uintptr_t address = place.address != 0 ? place.address : kLikelyFree;
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): is one
  void* const memory =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, place.file.get(), static_cast<off_t>(place.offset));
  if (memory == MAP_FAILED && errno == EEXIST) {
    return Status(Code::kBusy, "the addresses of requests over io_uring are in use in this process: try again");
  }
  if (memory == MAP_FAILED) return ErrnoStatus(errno, "memory for requests over io_uring");
  return RingArea({static_cast<std::byte*>(memory), bytes});
}

RingArea::~RingArea() {
  if (!memory_.empty()) (void)munmap(memory_.data(), memory_.size());
}

}  // namespace augur
