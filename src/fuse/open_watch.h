// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/unique_fd.h"
#include "order/order.h"

namespace augur {

// OpenWatch learns of opens on the mount, folder by folder, through inotify: the kernel tells them without asking the
// daemon, wherever the mount is bound to. One thread. For the helper process only. A watch does not keep a umount from
// succeeding.
class OpenWatch {
 public:
  explicit OpenWatch(const Store& store) : store_(store) {}

  // Tells of opens of the files in `folder`, which is entry `entry` and lies at the absolute `path`. kNoSpace: a limit
  // of inotify is reached; the text has the cure. kIo and others: the folder cannot be watched.
  Status Add(EntryNumber entry, const std::string& path);

  // Appends the files opened since the last call to `opened`, in order; opens that follow at once on another of the
  // same file are left out by the kernel. False: some were lost, because the queue of events was full. The mount is
  // gone: its watches are let go.
  bool Take(std::vector<EntryNumber>& opened);

  // Becomes readable with the first open; -1 while nothing is watched.
  int fd() const { return inotify_.get(); }

 private:
  const Store& store_;
  UniqueFd inotify_;
  std::unordered_map<int, EntryNumber> folders_;  // by watch descriptor
};

}  // namespace augur
