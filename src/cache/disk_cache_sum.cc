// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_sum.h"

#include <xxhash.h>
#if defined(__x86_64__)
// The same function by the name of xxhash.h, for AVX2 or AVX-512 by choice at run time; Debian's library is for SSE2.
#include <xxh_x86dispatch.h>
#endif

namespace augur {

uint64_t DiskCacheSum(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace augur
