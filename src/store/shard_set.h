// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "store/local_file.h"
#include "store/shard_rights.h"

namespace augur {

// Opens the shard of a row and checks it: a regular file of the size in the row, and for an own shard its header
// (FORMAT.md section 6). ShardRights says which files may be opened, and from where. kCorrupt: missing or not as it
// should be, or not allowed, by name and with the cure. Another mtime of a foreign file sets `*token_differs`.
Result<std::shared_ptr<const LocalFile>> OpenShard(const ShardRights& rights, const ShardInfo& info, bool direct,
                                                   bool* token_differs);

// ShardSet keeps the shards that are in use open: at most open_max, the least recently used is let go. One that is let
// go stays open for those who still hold it.
// Safe from any thread. Two threads that need a closed shard at once may both open it; one of the two wins.
class ShardSet {
 public:
  // At least one shard is kept, whatever open_max.
  ShardSet(bool direct, uint32_t open_max);

  // The shard if it is open, else nullptr.
  std::shared_ptr<const LocalFile> Find(uint32_t number) AUGUR_EXCLUDES(mu_);
  // Opens the shard; waits for the disk. A foreign file with another mtime is logged once. Failures: OpenShard.
  Result<std::shared_ptr<const LocalFile>> Open(const ShardRights& rights, const ShardInfo& info) AUGUR_EXCLUDES(mu_);
  // Lets this open file of the shard go, if it is still the one that Find gives.
  void LetGo(uint32_t number, const LocalFile& file) AUGUR_EXCLUDES(mu_);

 private:
  struct Opened {
    uint32_t number;
    std::shared_ptr<const LocalFile> file;
  };

  // Constant after construction.
  const bool direct_;
  const size_t open_max_;

  Mutex mu_;
  std::list<Opened> recent_ AUGUR_GUARDED_BY(mu_);  // at most open_max_, the most recently used first
  std::unordered_map<uint32_t, std::list<Opened>::iterator> by_number_ AUGUR_GUARDED_BY(mu_);
  std::set<uint32_t> warned_ AUGUR_GUARDED_BY(mu_);  // shards whose mtime was logged
};

}  // namespace augur
