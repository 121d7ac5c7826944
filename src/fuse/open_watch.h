// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "datasets/order.h"
#include "fs/view_paths.h"

namespace augur {

// OpenWatch learns of opens on the mount, folder by folder, through inotify: the kernel tells them without asking the
// daemon, wherever the mount is bound to. One thread. For the helper process only. A watch does not keep a umount from
// succeeding.
class OpenWatch {
 public:
  struct Open {
    uint32_t view = 0;
    EntryNumber file = 0;
    bool operator==(const Open&) const = default;
  };

  // REQUIRES: `paths` outlives it.
  explicit OpenWatch(ViewPaths& paths) : paths_(paths) {}

  // Tells of opens of the files in a folder, which is entry `entry` in the view that is shown and lies at the absolute
  // `path`. kNoSpace: a limit of inotify is reached; the text has the cure. kIo and others: the folder cannot be
  // watched.
  Status Add(EntryNumber entry, const std::string& path);

  // Tells of no opens any more, not of those before either. Add begins anew.
  void Clear();

  // Appends the files opened since the last call to `opened`, in order; opens that follow at once on another of the
  // same file are left out by the kernel. False: some were lost, because the queue of events was full. The mount is
  // gone: its watches are let go.
  bool Take(std::vector<Open>& opened);

  // Becomes readable with the first open; -1 while nothing is watched.
  int fd() const { return inotify_.get(); }

 private:
  struct Folder {
    uint32_t view = 0;
    EntryNumber entry = 0;
  };

  ViewPaths& paths_;
  UniqueFd inotify_;
  std::unordered_map<int, Folder> folders_;  // by watch descriptor
};

}  // namespace augur
