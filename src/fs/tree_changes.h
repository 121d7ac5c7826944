// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"

namespace augur {

// What became of an entry in the next generation, of which the path is the same.
enum class ChildChange {
  kSame,
  kAttributes,  // another mode or modification time; the bytes, or the link's target, are the same
  kOther,       // added, removed, or replaced by other bytes, or by something of another type
};

// Entries of one generation that follow one another, and so do those that are the same in the next one.
struct KeptRun {
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t count = 0;
};

// A folder of both generations, by its entries.
struct FolderPair {
  uint64_t before = 0;
  uint64_t after = 0;
};

struct TreeChanges {
  std::vector<KeptRun> kept;        // all but kOther, in no order; a folder is kept where its path is one in both
  std::vector<FolderPair> folders;  // whose children, their listed order or attributes are not all the same
};

// TreeComparison compares two generations of a store. It reads both indexes and no shard. For one thread at a time.
// Failures: those of the stores, and as said. REQUIRES: both stores outlive it.
//
// Records are the same where they have the same place in the same shards, or the same SHA-256. A shard number means the
// same shard in both generations if one was made by adding to the other; a store that was packed anew has other shards.
class TreeComparison {
 public:
  TreeComparison(const Store& before, const Store& after);

  // Walks both trees. kNoSpace: the two have more than `runs_max` pieces in common.
  Result<TreeChanges> Run(size_t runs_max) const;

  // Hands out the children of a folder of both generations in the order of their names, until `take` fails. nullptr:
  // that generation has no child of this name. REQUIRES: directories.
  using Take = std::function<Status(const Entry* before, const Entry* after, ChildChange change)>;
  Status ForEachChild(const Entry& before, const Entry& after, const Take& take) const;

 private:
  Result<ChildChange> Compare(const Entry& before, const Entry& after) const;
  Result<bool> IsSameRecord(const Entry& before, const Entry& after) const;
  Result<bool> ListsAlike(const Entry& before, const Entry& after) const;

  const Store& before_;
  const Store& after_;
  const bool shares_shards_;
};

}  // namespace augur
