// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/defect_sink.h"
#include "store/index_reader.h"
#include "store/tree.h"

namespace augur {

// What a full check of the entries counted.
struct TreeCounts {
  uint64_t entry_count = 0;  // good ones and bad ones
  uint64_t bad_count = 0;
  uint64_t file_count = 0;
  uint64_t directory_count = 0;
  uint64_t symlink_count = 0;
  uint64_t image_count = 0;
  uint64_t tree_bytes = 0;
  uint64_t full_count = 0;  // regular files that have bytes
};

// Checks every entry with every rule of FORMAT.md section 5, also those that a reader need not see at use. These are
// that each entry is among the children of its parent, that all names of a directory ascend, and that no path is too
// long.
TreeCounts VerifyTree(const IndexReader& index, const Tree& tree, int threads, DefectSink* sink);

// Compares the counts, and the bytes of distinct records, with those that the header states. Not when there were bad
// entries, because what they stand for cannot be counted.
void VerifyCounts(const IndexReader& index, const TreeCounts& counts, uint64_t distinct_bytes, DefectSink* sink);

}  // namespace augur
