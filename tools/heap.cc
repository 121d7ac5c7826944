// SPDX-License-Identifier: Apache-2.0
#include "tools/heap.h"

#include <malloc.h>

#include "base/units.h"

namespace augur {

void KeepHeapSmall() {
  // glibc keeps an arena of freed memory for each thread, 8 a core: two hold what we need and keep memory in its
  // budget.
  mallopt(M_ARENA_MAX, 2);  // NOLINT(concurrency-mt-unsafe): before any thread
  // And it raises by itself the size from which memory is given back at once when it is freed, up to 32 MiB: what
  // decoding takes for each image would stay with us in pieces. (Pixels have their own: RecycledMemory.)
  mallopt(M_MMAP_THRESHOLD, 256 * kKiB);  // NOLINT(concurrency-mt-unsafe): before any thread
}

}  // namespace augur
