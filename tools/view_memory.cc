// SPDX-License-Identifier: Apache-2.0
#include "tools/view_memory.h"

#include <algorithm>

#include "fs/read_reply.h"

namespace augur {
namespace {

// For what waits to be written to a decoded cache. A disk that takes 100 MB/s writes the most in a sixth of a second;
// who waits for a slower one would hold memory that others need.
constexpr uint64_t kWritingShare = 8;
constexpr uint64_t kWritingMax = 16 * kMiB;
// For memory of images that are done, waiting for the next: two dozen photographs' pixels are enough.
constexpr uint64_t kRecycledShare = 16;
constexpr uint64_t kRecycledMax = 16 * kMiB;
// Tables of archives, 4 bytes an image: with 3 GiB for the daemon some five million images.
constexpr uint64_t kTablesShare = 16;
// Reads of archives of small images: more at a time than a disk serves well are of no use.
constexpr uint64_t kGatheredShare = 64;
constexpr uint64_t kGatheredMax = 16;
// A decoding thread: tables of libjpeg or zlib (300 KiB), and its stack.
constexpr uint64_t kDecodeThreadBytes = 512 * kKiB;
// The index of a decoded cache: the files of the store in two views, and some of others, within this share of what is
// left.
constexpr uint64_t kIndexedViews = 2;
constexpr uint64_t kIndexBytesMin = 4 * kMiB;
constexpr uint64_t kIndexShare = 8;

}  // namespace

uint64_t DecodedIndexBytes(const ViewMemoryOptions& options, uint64_t bytes) {
  if (!options.has_decoded_cache) return 0;
  return std::min(std::max(kIndexedViews * options.decoded_index_bytes, kIndexBytesMin), bytes / kIndexShare);
}

ViewMemory DivideViewMemory(const ViewMemoryOptions& options, uint64_t bytes, uint64_t index_bytes,
                            uint64_t memory_bytes, std::vector<std::string>& notes) {
  ViewMemory memory = {.decoded_index_bytes = index_bytes};
  // One more than those that decode ahead, so that a reader never waits for them; where there is room for one alone, it
  // does both.
  const auto threads_room = static_cast<unsigned>(std::max<uint64_t>(1, bytes / 2 / kDecodeThreadBytes));
  const unsigned decoders_max = std::max(1U, threads_room - 1);
  memory.decode_threads = options.decode_threads != 0 ? options.decode_threads : std::max(1U, options.cores / 4);
  if (memory.decode_threads > decoders_max) {
    if (options.decode_threads != 0) {
      notes.push_back("decode-threads: " + std::to_string(decoders_max) + " instead of " +
                      std::to_string(options.decode_threads) + ", for the memory budget of " +
                      FormatSize(memory_bytes));
    }
    memory.decode_threads = decoders_max;
  }
  // Who waits for an image leaves a core idle meanwhile.
  memory.demand_decode_threads =
      std::min(std::max(options.cores, memory.decode_threads + 1), threads_room) - memory.decode_threads;
  if (options.has_decoded_cache) memory.decoded_writing_bytes = std::min(bytes / kWritingShare, kWritingMax);
  memory.recycled_bytes = std::min(bytes / kRecycledShare, kRecycledMax);
  memory.archive_tables_bytes = bytes / kTablesShare;
  memory.gathered_reads = std::clamp<uint64_t>(bytes / kGatheredShare / kReadBytesMax, 1, kGatheredMax);
  memory.gathered_bytes = std::min(memory.gathered_reads * kReadBytesMax, bytes / kGatheredShare);
  memory.rendered_bytes = bytes - memory.decoded_writing_bytes - memory.recycled_bytes - memory.archive_tables_bytes -
                          memory.gathered_bytes -
                          (memory.decode_threads + memory.demand_decode_threads) * kDecodeThreadBytes;
  return memory;
}

}  // namespace augur
