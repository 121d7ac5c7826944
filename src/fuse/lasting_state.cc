// SPDX-License-Identifier: Apache-2.0
#include "fuse/lasting_state.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>

namespace augur {

Result<LastingState*> LastingState::Make() {
  // Zero, as LastingViews wants it. Its pages are had as they are written.
  void* const memory =
      mmap(nullptr, sizeof(LastingState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return ErrnoStatus(errno, "memory for what outlives a daemon");
  return new (memory) LastingState;  // and leaves the views as they are
}

}  // namespace augur
