// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "store/entry_spool.h"
#include "store/shard_rows.h"

namespace augur {

// TreeSorter makes a tree of what was spooled: numbers of entries in path order, each path once, each with its parent,
// no hard link left. What it must make for that (missing parents, resolved links) it adds to the spool as derived.
// One thread, one use. Memory: 12 bytes an entry.
class TreeSorter {
 public:
  // `relist` is told of each entry that the catalogue does not say, or does not say last, and may be empty.
  TreeSorter(EntrySpool& spool, const ShardRows& shards, OnDuplicate on_duplicate,
             std::function<Status(uint64_t)> relist)
      : spool_(spool), shards_(shards), on_duplicate_(on_duplicate), relist_(std::move(relist)) {}

  // kExists: a path comes twice and the policy refuses that, or a path is a file and a folder. kInvalid: a hard link
  // leads nowhere, to a folder, or in a circle. Both name the paths, and where each comes from.
  Result<std::vector<uint64_t>> Sort();

 private:
  Status PickOneEach();
  Result<size_t> Pick(size_t begin, size_t end);
  Status CheckFoldersAreFolders() const;
  Status ResolveHardLinks();
  Result<uint64_t> Follow(uint64_t link) const;
  Status AddParents();
  std::string Describe(uint64_t entry) const;

  EntrySpool& spool_;
  const ShardRows& shards_;
  const OnDuplicate on_duplicate_;
  const std::function<Status(uint64_t)> relist_;
  std::vector<uint64_t> sorted_;
};

}  // namespace augur
