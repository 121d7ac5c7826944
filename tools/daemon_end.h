// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/holder_link.h"
#include "tools/control_endpoint.h"
#include "tools/daemon_mount.h"
#include "tools/end_watchdog.h"
#include "tools/mount_stack.h"

namespace augur {

// DaemonEnd is the end of a daemon: of the mount with it, or of the process alone, as another daemon goes on with the
// mount. A watchdog ends the process where that takes too long. For the main thread, but for EndUnserved. Owns the
// watchdog, and is destroyed after the stack, whose end that watches. REQUIRES: the mount outlives it, and so does the
// link until LoseHolder.
class DaemonEnd {
 public:
  // `link`: nullptr where there is no holder. `main_tells`: what main() says of a failure is in the log, too.
  DaemonEnd(DaemonMount& mount, HolderLink* link, bool main_tells)
      : mount_(mount), link_(link), main_tells_(main_tells) {}
  DaemonEnd(const DaemonEnd&) = delete;
  DaemonEnd& operator=(const DaemonEnd&) = delete;

  // After the helper was forked. kNoSpace: the system gives no thread.
  Status StartWatchdog();
  // The holder is gone: nothing is told to it any more.
  void LoseHolder() { link_ = nullptr; }

  // On the thread of EndOnSignal, by one that goes on with the mount and does not serve it yet. `signal`: 0 as the
  // mount is gone. Requests that came meanwhile fail.
  [[noreturn]] void EndUnserved(int signal);
  // Takes the mount away. As DaemonMount::Unmount.
  Status EndMount(const std::string& why, MountStack& stack);
  Status EndMountOn(int signal, MountStack& stack);
  // The mount was taken away from outside.
  void MountEnded() { ends_mount_ = true; }
  // Whether one of these three was called.
  bool ends_mount() const { return ends_mount_; }
  // Ends all that serves the mount, after one of these three; after another failure takes the mount away first.
  void Finish(const Status& outcome, MountStack& stack, ControlEndpoint& control);

  // The next daemon is prepared: this one takes no more requests, answers what it has, and ends. The mount stays.
  // `signals`: those that came to this process alone, which the next one does not get.
  Status HandOver(const UniqueFd& signals, MountStack& stack, ControlEndpoint& control);
  // The mount stays, as the holder starts another daemon. What this one has taken over /dev/fuse is handed out again;
  // over io_uring it is answered.
  [[noreturn]] void LeaveToNext(const Status& failure, MountStack& stack, ControlEndpoint& control);

 private:
  [[noreturn]] void EndAtOnce(const Status& status) const;
  [[noreturn]] void GiveUp() const;

  DaemonMount& mount_;
  HolderLink* link_;
  const bool main_tells_;
  bool ends_mount_ = false;
  std::atomic<bool> hands_over_ = false;  // for the watchdog's thread
  std::unique_ptr<EndWatchdog> watchdog_;
};

}  // namespace augur
