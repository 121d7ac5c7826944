// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "fs/node_numbers.h"
#include "fs/tree_changes.h"
#include "fs/view_table.h"
#include "fuse/notify_channel.h"

namespace augur {

struct TreeRefresherOptions {
  std::shared_ptr<const Store> shown;
  // Of which the kernel may have names: the generation before, and those before it.
  std::vector<std::shared_ptr<const Store>> earlier;
  const NodeNumbers* numbers = nullptr;            // of `shown`; outlives the refresher
  std::optional<std::vector<FolderPair>> folders;  // TreeChanges::folders since the one before; nothing: not known
  std::vector<ViewRef> views;                      // those of which the kernel may have nodes
  bool shows_originals = true;                     // the mount has the original files
  std::function<void()> done;  // called on its thread when the kernel has no old name; not, if it is stopped before
};

// TreeRefresher makes the kernel see the next generation of the store under a mount that serves it. It has the kernel
// forget each name that was added, removed or replaced, in each view, and the listing of each folder that changed.
// Unchanged files stay at the kernel, with their pages. Of several generations it looks at each step from one to the
// next. It works on a thread of its own, since the kernel waits in that for answers to requests. Owns the thread.
// REQUIRES: the mount is served by then, and gives no old name any more.
class TreeRefresher {
 public:
  static Result<std::unique_ptr<TreeRefresher>> Start(std::shared_ptr<NotifyChannel> channel,
                                                      TreeRefresherOptions options);
  // Ends the thread, after the name that it is at. REQUIRES: requests are still answered, or the channel is closed.
  ~TreeRefresher();
  TreeRefresher(const TreeRefresher&) = delete;
  TreeRefresher& operator=(const TreeRefresher&) = delete;

 private:
  TreeRefresher(std::shared_ptr<NotifyChannel> channel, TreeRefresherOptions options)
      : channel_(std::move(channel)), options_(std::move(options)) {}
  void Run();

  // Constant after construction.
  const std::shared_ptr<NotifyChannel> channel_;
  const TreeRefresherOptions options_;

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace augur
