// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>

namespace augur {
namespace {

using CoreSet = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;

// With room for cores 0 to `cores` - 1: cpu_set_t itself ends at 1,024. nullptr: there is no memory.
CoreSet MakeCoreSet(size_t cores) {
  CoreSet set(CPU_ALLOC(cores), [](cpu_set_t* mask) { CPU_FREE(mask); });
  if (set != nullptr) CPU_ZERO_S(CPU_ALLOC_SIZE(cores), set.get());
  return set;
}

}  // namespace

std::vector<unsigned> UsableCoreNumbers() {
  // The kernel refuses a mask that is shorter than its own (EINVAL).
  constexpr size_t kCoresMax = 1 << 16;
  for (size_t cores = CPU_SETSIZE; cores <= kCoresMax; cores *= 2) {
    const CoreSet set = MakeCoreSet(cores);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<unsigned> numbers;
      for (unsigned core = 0; core < cores; ++core) {
        if (CPU_ISSET_S(core, bytes, set.get())) numbers.push_back(core);
      }
      return numbers;
    }
    if (errno != EINVAL) break;
  }
  return {};
}

unsigned UsableCores() {
  const size_t known = UsableCoreNumbers().size();
  return known > 0 ? static_cast<unsigned>(known) : std::max(std::thread::hardware_concurrency(), 1U);
}

bool StayOnCore(unsigned core) {
  const size_t cores = size_t{core} + 1;
  const CoreSet set = MakeCoreSet(cores);
  if (set == nullptr) return false;
  const size_t bytes = CPU_ALLOC_SIZE(cores);
  CPU_SET_S(core, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace augur
