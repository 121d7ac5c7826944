// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_set>

#include "datasets/order.h"
#include "prefetch/mount_view.h"

namespace augur {

// WatchedFolders are the folders that inotify watches for opens: their files are read, and the page cache answers the
// reads of some of them. Not synchronized.
//
// Each reported open takes 30 us of the reader's processor. So opens are watched only while they are used: by the
// OrderPredictor, by the planner, which follows an order by them, or by who records the accesses.
class WatchedFolders {
 public:
  // `view` tells the opens, and outlives this; nullptr: no opens are told. Before all others.
  void SetView(MountView* view) { view_ = view; }

  void Add(std::span<const EntryNumber> folders);
  // Whether the OrderPredictor needs opens; it does at first. Update follows it.
  void SetNeeded(bool needed) { needed_ = needed; }
  // `used`: there is an order, or the accesses are recorded.
  void Update(bool used);
  // Those of another view come.
  void Clear() { folders_.clear(); }

 private:
  MountView* view_ = nullptr;
  std::unordered_set<EntryNumber> folders_;  // or would be watched if opens were needed
  bool needed_ = true;
  bool unwatched_ = false;  // no folder is watched
};

}  // namespace augur
