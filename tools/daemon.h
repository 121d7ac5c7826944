// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/holder_link.h"
#include "fuse/lasting_state.h"
#include "fuse/writable_layer.h"
#include "tools/augurfs_options.h"
#include "tools/background.h"
#include "tools/control_endpoint.h"
#include "tools/daemon_end.h"
#include "tools/daemon_log.h"
#include "tools/daemon_mount.h"
#include "tools/end_on_signal.h"
#include "tools/mount_stack.h"
#include "tools/mount_transport.h"

namespace augur {

// Daemon is the process around a mount, from the parsed options to the mount's end. That is its log, its signals, the
// caller that waits for it, the holder that starts it, and the control socket. What serves the mount is MountStack. For
// the main thread. Owns all of these parts.
class Daemon {
 public:
  // The options outlive it. `background`: it has left its caller, which waits. `link`: this program goes on with a
  // mount that another one has made; else nullptr.
  Daemon(const AugurfsOptions& options, std::optional<Background> background, std::unique_ptr<HolderLink> link);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Mounts and serves until the mount ends. OK: it was unmounted, by a signal or from outside. Where there is a holder,
  // this process is that, and Run returns in each daemon that it starts. REQUIRES: called once, before any thread.
  Status Run();

 private:
  bool goes_on() const { return link_ != nullptr && link_->goes_on(); }
  // The daemon before this one.
  bool has_died() const { return link_ != nullptr && link_->task() == HolderLink::Task::kGoOn; }
  bool is_next() const { return link_ != nullptr && link_->task() == HolderLink::Task::kNext; }
  // A failure, on stderr, which is the log.
  bool IsToldByMain() const { return options_.foreground && options_.log_path.empty(); }

  Status ForkLayer();
  Status StartHolder();
  Status RunHeld();
  Status TellOfTheEnd() const;
  Status Prepare();
  Status WatchForEnd(int device, std::unique_ptr<EndOnSignal>& watch);
  Status AwaitTurn();
  Status BeginToServe();
  Status Serve(const UniqueFd& signals);
  Status OnServing();
  Status Announce();
  Status GoOn();
  bool IsFollowed() const;
  void LoseHolder();

  const AugurfsOptions& options_;
  std::optional<Background> background_;
  DaemonLog log_;
  bool has_turn_ = false;    // the daemon before this one serves no more
  bool is_ready_ = false;    // one that goes on with the mount serves it
  bool hands_over_ = false;  // to the next one
  // In the order in which they are made.
  std::unique_ptr<DaemonMount> mount_;
  std::optional<WritableLayer> layer_;   // of -o writable=, in the first daemon
  std::unique_ptr<HolderLink> link_;     // nullptr: there is no holder, or it is gone
  const LastingState* state_ = nullptr;  // of the holder, also when that is gone; nullptr: there was none
  std::optional<DaemonEnd> end_;
  std::unique_ptr<MountTransport> transport_;
  std::unique_ptr<MountStack> stack_;
  std::unique_ptr<ControlEndpoint> control_;
};

}  // namespace augur
