// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "augur/status.h"
#include "base/mutex.h"
#include "fs/file_system.h"
#include "fuse/notify_channel.h"

namespace augur {

// NameDropper asks the kernel to forget names (FUSE_NOTIFY_INVAL_ENTRY), on a thread of its own. The kernel waits in
// that until the folder's lock is free, which a LOOKUP holds until a request handler has answered it. What nothing has
// open below a name is forgotten with it, and comes back as FORGET. Ask is for any thread and never waits. Owns the
// thread; the channel is shared. Not for files: what they were is in PageCachePusher::Drop.
class NameDropper {
 public:
  // Names that wait at most; one more is not asked for. ViewTable asks once for each of its views, of which it has
  // fewer.
  static constexpr size_t kWaitingMax = 4096;

  static Result<std::unique_ptr<NameDropper>> Start(std::shared_ptr<NotifyChannel> channel);
  // Ends the thread, after the name that it is at. REQUIRES: requests are still answered, or the channel is closed.
  ~NameDropper();
  NameDropper(const NameDropper&) = delete;
  NameDropper& operator=(const NameDropper&) = delete;

  void Ask(NodeId folder, const std::string& name);

 private:
  explicit NameDropper(std::shared_ptr<NotifyChannel> channel) : channel_(std::move(channel)) {}
  void Run();

  // Constant after construction.
  const std::shared_ptr<NotifyChannel> channel_;

  Mutex mu_;
  CondVar asked_;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
  std::deque<std::pair<NodeId, std::string>> waiting_ AUGUR_GUARDED_BY(mu_);  // kWaitingMax at most

  std::thread thread_;
};

}  // namespace augur
