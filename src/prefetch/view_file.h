// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "augur/store.h"

namespace augur {

// A file of the store as readers of one view of the mount get it: its record, or a file that is rendered from it. View
// 0 has the original files.
struct ViewFile {
  Entry entry;
  uint32_t view = 0;      // as in its nodes
  bool rendered = false;  // from the record; not the record itself
  // It has no file of its own in the mount: it lies in an archive, between others. So it is not opened or pushed.
  bool in_archive = false;
  // A hash of the shown bytes, not to be trusted as their name, and how many there are.
  Hash128 hash;
  uint64_t size = 0;
  int32_t label = 0;  // in the bytes, where the view's files have one (ClassLabels); else 0

  static ViewFile Original(const Entry& entry, uint32_t view = 0) {
    return {
        .entry = entry, .view = view, .rendered = false, .in_archive = false, .hash = entry.hash, .size = entry.size};
  }

  // In blocks as a record has them.
  uint64_t block_count() const { return (size + kBlockBytes - 1) / kBlockBytes; }
  uint64_t BlockBytes(uint64_t block) const { return std::min<uint64_t>(kBlockBytes, size - block * kBlockBytes); }
  // Whether both show the same record in the same view, with the same label.
  bool IsSame(const ViewFile& other) const {
    return entry.shard == other.entry.shard && entry.offset == other.entry.offset && size == other.size &&
           view == other.view && rendered == other.rendered && label == other.label;
  }
};

}  // namespace augur
