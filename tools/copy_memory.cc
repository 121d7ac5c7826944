// SPDX-License-Identifier: Apache-2.0
#include "tools/copy_memory.h"

#include <algorithm>

#include "base/units.h"

namespace augur {
namespace {

constexpr uint64_t kShare = 16;  // for each of both
constexpr uint64_t kIndexBytesMin = 4 * kMiB;
// A local disk is faster than the link; it gets behind only while it is busy with others, for a sixth of a second at
// 200 MB/s.
constexpr uint64_t kWritingMax = 32 * kMiB;

}  // namespace

CopyMemory DivideCopyMemory(uint64_t bytes, uint64_t index_bytes) {
  const uint64_t share = bytes / kShare;
  return {.index_bytes = std::min(std::max(index_bytes, kIndexBytesMin), share),
          .writing_bytes = std::min(kWritingMax, share)};
}

}  // namespace augur
