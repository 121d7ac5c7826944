// SPDX-License-Identifier: Apache-2.0
#include "base/thread_refusal.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "base/units.h"

namespace augur {
namespace {

size_t StackBytes() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

// As the C library asks for it.
bool StackFits(size_t bytes) {
  void* const stack =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  munmap(stack, bytes);
  return true;
}

bool AddressSpaceIsLimited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

Status ThreadRefusal(int error) {
  const Status status = ErrnoStatus(error, "cannot start a thread");
  std::string cure;
  if (const size_t stack_bytes = StackBytes(); !StackFits(stack_bytes)) {
    cure = ": no room for its stack of " + FormatSize(stack_bytes) + ": raise " +
           (AddressSpaceIsLimited() ? "the limit of address space (ulimit -v)"
                                    : "vm.max_map_count with sysctl, or set vm.overcommit_memory to 0");
  } else if (error == EAGAIN) {
    cure = ": raise the limit of processes (ulimit -u, pids.max)";
  }
  return {Code::kNoSpace, status.text() + cure};
}

}  // namespace augur
