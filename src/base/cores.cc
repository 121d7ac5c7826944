// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>

namespace augur {

unsigned UsableCores() {
  // The kernel refuses a mask that is shorter than its own (EINVAL), and cpu_set_t ends at 1,024.
  constexpr int kCoresMax = 1 << 16;
  for (int cores = CPU_SETSIZE; cores <= kCoresMax; cores *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<size_t>(cores)),
                                                               [](cpu_set_t* mask) { CPU_FREE(mask); });
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cores));
    if (sched_getaffinity(0, bytes, set.get()) == 0) return static_cast<unsigned>(CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) break;
  }
  return std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace augur
