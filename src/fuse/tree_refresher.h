// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "fs/node_numbers.h"
#include "fs/tree_changes.h"
#include "fs/view_table.h"
#include "fs/view_tree.h"
#include "fuse/notify_channel.h"

namespace augur {

struct TreeRefresherOptions {
  std::shared_ptr<const Store> before;
  std::shared_ptr<const Store> after;
  const NodeNumbers* numbers = nullptr;            // of `after`; outlives the refresher
  std::optional<std::vector<FolderPair>> folders;  // TreeChanges::folders; nothing: to be found out
  std::vector<ViewRef> views;                      // those of which the kernel may have nodes
  bool shows_originals = true;                     // the mount has the original files
  std::function<void()> done;  // called on its thread when the kernel has no old name; not, if it is stopped before
};

// TreeRefresher makes the kernel see the next generation of the store under a mount that serves it: it has the kernel
// forget each name that was added, removed or replaced, in each view, and the listing of each folder that changed. What
// is the same stays at the kernel, with its pages. It works on a thread of its own, since the kernel waits in that for
// answers to requests. Owns the thread. REQUIRES: the mount is served by then, and gives no old name any more.
class TreeRefresher {
 public:
  static Result<std::unique_ptr<TreeRefresher>> Start(std::shared_ptr<NotifyChannel> channel,
                                                      TreeRefresherOptions options);
  // Ends the thread, after the name that it is at. REQUIRES: requests are still answered, or the channel is closed.
  ~TreeRefresher();
  TreeRefresher(const TreeRefresher&) = delete;
  TreeRefresher& operator=(const TreeRefresher&) = delete;

 private:
  TreeRefresher(std::shared_ptr<NotifyChannel> channel, TreeRefresherOptions options);
  void Run();
  Status RefreshAll();
  // `view`: nullptr: the original files.
  Status RefreshFolder(const FolderPair& folder, const View* view);
  // The listings of a folder and of those above it: what archives lie there depends on all that is below.
  Status RefreshArchivesOf(const View& view, const Entry& folder);
  Status RefreshChild(NodeId folder, const View* view, const Entry* before, const Entry* after, ChildChange change);
  // All below a folder that is gone: a program may be in it.
  Status ForgetBelow(const View* view, const Entry& folder);
  Status Forget(NodeId folder, const std::string& name);

  // Constant after construction.
  const std::shared_ptr<NotifyChannel> channel_;
  const TreeRefresherOptions options_;
  const TreeComparison comparison_;
  const ViewTree names_before_;
  const ViewTree names_after_;

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace augur
