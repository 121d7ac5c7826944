// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace augur {

// The memory of views, and the threads that decode for them.
struct ViewMemory {
  // A file of a view goes to the kernel's page cache in one or two requests and is not needed again. So this is what
  // some dozen large photographs take while they are decoded; none of it is touched where no view is used.
  static constexpr uint64_t kBytesMax = 512 * kMiB;
  // Less has no room for a thread that decodes and one small image.
  static constexpr uint64_t kBytesMin = 3 * kMiB / 2;

  uint64_t rendered_bytes = 0;         // files of views, made and in the making
  uint64_t recycled_bytes = 0;         // memory that files of views gave back, for the next
  uint64_t decoded_index_bytes = 0;    // index of the decoded cache, where there is one
  uint64_t decoded_writing_bytes = 0;  // files of views that wait to be written to it
  uint64_t archive_tables_bytes = 0;   // tables of views with archives
  size_t gathered_reads = 0;           // reads of many small records at a time, of kReadBytesMax each
  uint64_t gathered_bytes = 0;         // what they may take; the first one more, where that is less
  unsigned decode_threads = 1;         // for readers and ahead of them
  unsigned demand_decode_threads = 0;  // more, for readers only; 0: there is no room for one
};

struct ViewMemoryOptions {
  unsigned cores = 1;
  unsigned decode_threads = 0;  // asked for; 0: a quarter of the cores
  bool has_decoded_cache = false;
  uint64_t decoded_index_bytes = 0;  // what its index takes for the files of the store in one view
};

// What the index of the decoded cache has of `bytes`; 0 without one.
uint64_t DecodedIndexBytes(const ViewMemoryOptions& options, uint64_t bytes);

// Divides `bytes`, of which the index is not a part. Where they have no room for the threads that were asked for, a
// note says so; `memory_bytes` is the whole budget, for it.
ViewMemory DivideViewMemory(const ViewMemoryOptions& options, uint64_t bytes, uint64_t index_bytes,
                            uint64_t memory_bytes, std::vector<std::string>& notes);

}  // namespace augur
