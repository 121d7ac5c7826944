// SPDX-License-Identifier: Apache-2.0
#include "fuse/name_dropper.h"

#include "base/thread.h"
#include "fuse/invalidation.h"

namespace augur {

Result<std::unique_ptr<NameDropper>> NameDropper::Start(std::shared_ptr<NotifyChannel> channel) {
  std::unique_ptr<NameDropper> dropper(new NameDropper(std::move(channel)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-names", [one = dropper.get()] { one->Run(); }));
  dropper->thread_ = std::move(thread);
  return dropper;
}

NameDropper::~NameDropper() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    asked_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void NameDropper::Ask(NodeId folder, const std::string& name) {
  const MutexLock lock(mu_);
  if (waiting_.size() == kWaitingMax) return;
  waiting_.emplace_back(folder, name);
  asked_.NotifyOne();
}

void NameDropper::Run() {
  while (true) {
    std::pair<NodeId, std::string> next;
    {
      const MutexLock lock(mu_);
      while (!stop_ && waiting_.empty()) asked_.Wait(mu_);
      if (stop_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    // ENOENT is no failure: the kernel has forgotten the name by itself. Once the mount is gone, all others are
    // nothing.
    (void)InvalidateName(*channel_, next.first, next.second);
  }
}

}  // namespace augur
