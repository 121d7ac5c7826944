// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/digest.h"
#include "augur/status.h"
#include "store/entry_spool.h"
#include "store/format.h"
#include "store/mapped_file.h"
#include "store/shard_rows.h"

namespace augur {

// The header and the root hash of an index that was written.
struct WrittenIndex {
  format::IndexHeader header;
  Digest root_hash;  // SHA-256 of the whole header but itself: the index-id
};

// IndexWriter writes the index of a tree (FORMAT.md sections 3 to 5) in two walks over the sorted entries. The first
// counts the children of each folder, which says where each entry goes; the second puts it there. The children of the
// folders lie one folder after the other in path order, so a walk of the tree reads the index nearly in sequence.
// One thread, one use. Memory: 8 bytes a folder, 16 a file with bytes, and with a listing 16 an entry of the largest
// folder. The file is the caller's to publish.
class IndexWriter {
 public:
  // `sorted` is from TreeSorter. `with_listing`: folders list by SpoolEntry::place.
  IndexWriter(const EntrySpool& spool, std::span<const uint64_t> sorted, const BlockSpool& blocks,
              const ShardRows& shards, uint64_t generation, bool with_listing)
      : spool_(spool),
        sorted_(sorted),
        blocks_(blocks),
        shards_(shards),
        generation_(generation),
        with_listing_(with_listing) {}

  // Makes the file `name` in the folder, and waits until it is on disk. kInvalid: the tree is too large for one index.
  Result<WrittenIndex> Write(const WriteFolder& folder, const std::string& name);

 private:
  Status Count();
  void CountRecords();
  Status PlanSections();
  void PlaceEntries(MappedFile& file) const;
  void PlaceListing(MappedFile& file) const;
  void PlaceShards(MappedFile& file) const;
  void PlaceChecksums(MappedFile& file);
  Digest PlaceHeader(MappedFile& file) const;
  format::Section& SectionOf(format::SectionId id) { return header_.sections[static_cast<size_t>(id) - 1]; }
  const format::Section& SectionOf(format::SectionId id) const { return header_.sections[static_cast<size_t>(id) - 1]; }

  const EntrySpool& spool_;
  const std::span<const uint64_t> sorted_;
  const BlockSpool& blocks_;
  const ShardRows& shards_;
  const uint64_t generation_;
  const bool with_listing_;
  format::IndexHeader header_{};
  std::vector<Digest> roots_;
  uint64_t entry_names_bytes_ = 0;     // names and link targets
  std::vector<uint64_t> first_child_;  // by folder in path order, and one more
};

}  // namespace augur
