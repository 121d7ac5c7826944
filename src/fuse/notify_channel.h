// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "base/mutex.h"

namespace augur {

// NotifyChannel writes messages that the kernel did not ask for (FUSE_NOTIFY_*) to the /dev/fuse descriptor of a
// Session. Safe from any thread that answers no requests: a write waits while the kernel holds a page of the file
// locked for an unanswered READ. Shared by the Session and who notifies; the descriptor is the Session's, which closes
// this before that. Not for replies.
class NotifyChannel {
 public:
  explicit NotifyChannel(int device) : device_(device) {}
  NotifyChannel(const NotifyChannel&) = delete;
  NotifyChannel& operator=(const NotifyChannel&) = delete;

  // Writes one message, header included. Returns 0 or an errno value: that of the kernel, or ENODEV once closed.
  // REQUIRES: at most IOV_MAX pieces.
  int Write(std::span<const iovec> message);

  // Refuses messages from now on, and returns when none is under way. REQUIRES: READ requests are still answered, or
  // the connection has ended; else it may wait for ever.
  void Close();

 private:
  const int device_;

  Mutex mu_;
  CondVar idle_;
  bool closed_ AUGUR_GUARDED_BY(mu_) = false;
  uint64_t writes_ AUGUR_GUARDED_BY(mu_) = 0;  // under way
};

}  // namespace augur
