// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "augur/store.h"
#include "base/mutex.h"
#include "datasets/order.h"

namespace augur {

// Two ways to go through a tree. Both take the names of a folder by their bytes, as a listing of the mount gives them,
// and they differ only where a folder holds both files and folders.
enum class TreeOrder {
  kPath,        // depth first, files and folders of a folder mixed by name: FORMAT.md's path order, and find(1)'s
  kFilesFirst,  // the files of a folder before those of its sub-folders: os.walk's, and so ImageFolder's
};

// PathOrder knows the regular files of a store in path order. Index i is the i-th regular file of a depth-first walk,
// counted from 0. Empty files and every name of a record that is stored once count. Folders and symbolic links do not,
// and no link is followed. Safe from any thread. Waits for pages of the index only. Failures: kCorrupt and kIo of the
// store; kUnsupported when the store has more entries than an EntryNumber can name.
class PathOrder {
 public:
  // `array_bytes_max` is the most that Files may take.
  explicit PathOrder(std::shared_ptr<const Store> store, uint64_t array_bytes_max = uint64_t{4} << 30);
  PathOrder(const PathOrder&) = delete;
  PathOrder& operator=(const PathOrder&) = delete;

  // All files, by index: 4 bytes a file and one walk of the tree (0.2 us a file once the index is in memory). Those who
  // ask while the array is still held get the same one; it goes away with the last of them. kNoSpace: it would
  // be larger than `array_bytes_max`.
  Result<std::shared_ptr<const Order>> Files() AUGUR_EXCLUDES(mu_);

  // Appends the first `count` files to `files`; those after `file`. Fewer at the end of the order. No array is made:
  // the cost is that of stepping over the entries between. kNotFound: no such entry.
  Status First(TreeOrder order, size_t count, Order* files) const;
  Status Next(EntryNumber file, TreeOrder order, size_t count, Order* files) const;

 private:
  Status CheckEntryCount() const;
  Result<std::shared_ptr<const Order>> Walk() const;

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const uint64_t array_bytes_max_;

  // Held during the walk, so that it is made once.
  Mutex mu_{LockRank::kOuter};
  // Guarded by mu_:
  std::weak_ptr<const Order> files_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
