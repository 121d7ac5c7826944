// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// XXH3-64 of xxHash 0.8: what every checksum of the disk cache is.
uint64_t DiskCacheSum(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace augur
