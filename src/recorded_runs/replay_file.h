// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/entry.h"
#include "augur/status.h"
#include "datasets/order.h"

namespace augur {

// The record of a run: the orders of its epochs as they were read, or a finding about how they were drawn, or both.
struct Run {
  std::string finding;        // a line of text, at most kFindingBytesMax; empty: nothing
  std::vector<Order> epochs;  // from the first seen on
};
inline constexpr size_t kFindingBytesMax = 4096;

// The index whose entries an order names.
struct ReplayIdentity {
  Hash128 index_id;  // XXH3-128 of the index header, as the manifest has it
  uint64_t generation = 0;
  uint64_t entry_count = 0;
  bool operator==(const ReplayIdentity&) const = default;
};

// One epoch in a file, and its beginning.
struct ReplayEpoch {
  uint64_t files = 0;
  Order head;  // the first kReplayHeadFiles, or all
};
inline constexpr size_t kReplayHeadFiles = 4096;

// What a file tells without its orders being read.
struct ReplayHead {
  ReplayIdentity identity;
  std::string finding;
  std::vector<ReplayEpoch> epochs;
};

// The bytes of a file, little-endian: a header, the finding, a table of epochs, and their entries. An entry has as many
// bytes as the store's entry count needs (3 for 16 million). Each part has its XXH3-64. Epochs that do not fit in
// `bytes_max` are left out, from the first that does not. REQUIRES: entries below identity.entry_count, a finding that
// fits.
std::string RenderReplay(const ReplayIdentity& identity, const Run& run, uint64_t bytes_max);

// Reads a file's head; the whole of it. `fd` is open for reading. kCorrupt, with the defect: not such a file, another
// version, damaged, cut off, entries that the index does not have.
Result<ReplayHead> ReadReplayHead(int fd);
Result<Run> ReadReplay(int fd);

}  // namespace augur
