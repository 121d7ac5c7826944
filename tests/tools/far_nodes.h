// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "base/unique_fd.h"

namespace augur {

// FarNodes are the inodes of a far_folder that the kernel knows, each with a descriptor (O_PATH) of the file behind it.
// Safe from any thread.
//
// A server that has lost its handles answers ESTALE for each inode that was looked up before, and has new ones for the
// same names: Expire. The root is always fresh, as a mount point is that is looked up by its path.
class FarNodes {
 public:
  struct Node {
    UniqueFd fd;
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t epoch = 0;
    uint64_t lookups = 0;  // that the kernel has not forgotten; guarded by the table
  };

  explicit FarNodes(UniqueFd root);

  // The inode of a FUSE request, or nullptr: its handle is stale.
  const Node* Find(uint64_t id) const;
  // Looks a name up; 0 or an errno. The kernel owns one more lookup of `*id`.
  int LookUp(const Node& folder, const char* name, uint64_t* id, struct stat* attributes) AUGUR_EXCLUDES(mu_);
  void Forget(uint64_t id, uint64_t lookups) AUGUR_EXCLUDES(mu_);

  void Expire() { ++epoch_; }
  uint64_t epoch() const { return epoch_; }

 private:
  struct Key {
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t epoch = 0;
    auto operator<=>(const Key&) const = default;
  };

  Node root_;
  std::atomic<uint64_t> epoch_ = 0;

  Mutex mu_;
  std::map<Key, std::unique_ptr<Node>> nodes_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
