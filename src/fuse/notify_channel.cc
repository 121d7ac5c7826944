// SPDX-License-Identifier: Apache-2.0
#include "fuse/notify_channel.h"

#include <cerrno>
#include <climits>

#include "base/check.h"

namespace augur {

int NotifyChannel::Write(std::span<const iovec> message) {
  AUGUR_CHECK(message.size() <= IOV_MAX);
  {
    const MutexLock lock(mu_);
    if (closed_) return ENODEV;
    ++writes_;
  }
  int error = 0;
  // The kernel takes a message whole or not at all, and sleeps in it without heeding signals.
  if (writev(device_, message.data(), static_cast<int>(message.size())) < 0) error = errno;
  const MutexLock lock(mu_);
  if (--writes_ == 0) idle_.NotifyAll();
  return error;
}

void NotifyChannel::Close() {
  const MutexLock lock(mu_);
  closed_ = true;
  while (writes_ > 0) idle_.Wait(mu_);
}

}  // namespace augur
