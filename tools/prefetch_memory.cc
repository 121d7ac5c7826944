// SPDX-License-Identifier: Apache-2.0
#include "tools/prefetch_memory.h"

#include <algorithm>

namespace augur {
namespace {

// Chunks of up to 4 MiB on their way from the disk to the page cache: 8 in flight keep any disk busy, and as many wait
// to be pushed. One at least; with it the smallest budget still has room for the index of 8,000 files.
constexpr uint64_t kStagingMax = 96 * kMiB;
// ... and a twelfth of a memory for which this is enough: what a limit of 150 MB/s lets through at once, a tenth of a
// second of it, with as much on its way to be kept.
constexpr uint64_t kStagingEnough = 40 * kMiB;
// Files pushed ahead. A reader at 3 GB/s reads this in a sixth of a second: longer than any wait for a disk that the
// window is there to bridge.
constexpr uint64_t kPushWindowMax = 512 * kMiB;
// On a seek-bound disk the reader is no faster than the disk: a third of it is enough, or 100 files and what was read.
constexpr uint64_t kPushWindowEnough = 16 * kMiB;
// What works out orders has at most a third of what the parts above leave.
constexpr uint64_t kPredictionShare = 3;
// Orders that are followed: what the store's take, but of a small one a hint may queue hundreds of epochs.
constexpr uint64_t kOrdersEnough = 16 * kMiB;
constexpr uint64_t kOrdersShare = 4;
// A smaller retained cache is none (RetainedCache::kBytesMin): the window has its memory then.
constexpr uint64_t kRetainedMin = 4 * kMiB;

uint64_t RetainedBytes(const CacheOptions& cache, uint64_t bytes_max, uint64_t memory_bytes,
                       std::vector<std::string>& notes) {
  if (cache.place == CachePlace::kNone) return 0;
  uint64_t bytes = bytes_max;
  if (cache.bytes > bytes_max) {
    notes.push_back("cache-size: " + FormatSize(bytes_max) + " instead of " + FormatSize(cache.bytes) +
                    ", for the memory budget of " + FormatSize(memory_bytes) + ": raise memory= too");
  } else if (cache.bytes != 0) {
    bytes = cache.bytes;
  }
  return bytes < kRetainedMin ? 0 : bytes;
}

}  // namespace

uint64_t StagingBytes(uint64_t bytes) {
  return std::clamp(bytes / 8, PrefetchMemory::kStagingMin,
                    std::max(kStagingEnough, std::min(bytes / 12, kStagingMax)));
}

PrefetchMemory DividePrefetchMemory(const PrefetchMemoryOptions& options, uint64_t staging_bytes, uint64_t bytes,
                                    uint64_t memory_bytes, std::vector<std::string>& notes) {
  PrefetchMemory memory = {.staging_bytes = staging_bytes};
  uint64_t rest = bytes;
  if (memory_bytes >= kMemoryToPredict) {
    memory.prediction_bytes = std::min(rest / kPredictionShare, options.prediction_bytes);
    if (memory.prediction_bytes < options.prediction_bytes) {
      notes.push_back("orders are predicted for smaller folders only, not for all files of the store: that takes " +
                      FormatSize(options.prediction_bytes) + ", and memory=" +
                      FormatSize((kPredictionShare + 1) * options.prediction_bytes + kMemoryToPredict) + " has it");
    }
    rest -= memory.prediction_bytes;
  }
  memory.order_bytes_max = std::min(std::max(options.order_bytes, kOrdersEnough), rest / kOrdersShare);
  rest -= memory.order_bytes_max;
  const uint64_t push_window =
      options.push ? std::clamp(rest / 5, std::min(PrefetchMemory::kPushWindowMin, rest), kPushWindowMax) : 0;
  memory.retained_bytes = RetainedBytes(options.cache, rest - push_window, memory_bytes, notes);
  memory.push_window_bytes = options.push ? rest - memory.retained_bytes : 0;
  // The shared cache has one size for all mounts, and a size that was asked for is kept to.
  if (memory.retained_bytes > 0 && options.cache.place == CachePlace::kRam && options.cache.bytes == 0) {
    memory.lent_window_bytes =
        memory.push_window_bytes -
        std::min(memory.push_window_bytes, std::max(memory.push_window_bytes / 3, kPushWindowEnough));
  }
  return memory;
}

}  // namespace augur
