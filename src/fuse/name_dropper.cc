// SPDX-License-Identifier: Apache-2.0
#include "fuse/name_dropper.h"

#include <linux/fuse.h>

#include <array>
#include <cstdint>

#include "base/thread.h"

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
    Drop(next.first, next.second);
  }
}

// ENOENT is no failure: the kernel has forgotten the name by itself. Once the mount is gone, all others are nothing.
void NameDropper::Drop(NodeId folder, const std::string& name) {
  fuse_notify_inval_entry_out body{};
  body.parent = folder;
  body.namelen = static_cast<uint32_t>(name.size());
  // The name follows with its zero byte, which namelen does not count.
  fuse_out_header header{};
  header.len = static_cast<uint32_t>(sizeof header + sizeof body + name.size() + 1);
  header.error = FUSE_NOTIFY_INVAL_ENTRY;
  const std::array<iovec, 3> message = {{{.iov_base = &header, .iov_len = sizeof header},
                                         {.iov_base = &body, .iov_len = sizeof body},
                                         {.iov_base = const_cast<char*>(name.c_str()), .iov_len = name.size() + 1}}};
  (void)channel_->Write(message);
}

}  // namespace augur
