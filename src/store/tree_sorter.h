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

// TreeSorter makes a tree of the spooled entries: their numbers in path order, each path once, each with its parent, no
// hard link left. Each link becomes the entry that its target was when the link was added, as where tar unpacks it, and
// of two tars the one in its own. A target that was only added later is the one that counts in the tree. A hard link to
// itself becomes the entry that was added under its path before. Entries that it must make for that (missing parents,
// resolved links) it adds to the spool as derived. One thread, one use. Memory: 12 bytes an entry, 20 where there are
// hard links.
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
  void TakeLinksToThemselvesAway();
  Status PickOneEach();
  Result<size_t> Pick(size_t begin, size_t end);
  Status CheckFoldersAreFolders() const;
  Status ResolveHardLinks();
  Result<uint64_t> Follow(uint64_t link) const;
  Result<uint64_t> TargetOf(uint64_t link) const;
  Status AddParents();
  std::string Describe(uint64_t entry) const;

  EntrySpool& spool_;
  const ShardRows& shards_;
  const OnDuplicate on_duplicate_;
  const std::function<Status(uint64_t)> relist_;
  std::vector<uint64_t> sorted_;
  std::vector<uint64_t> all_;  // also those that lost to another of their path; empty without hard links
};

}  // namespace augur
