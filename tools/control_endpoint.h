// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "augur/status.h"
#include "control/control_server.h"
#include "fuse/lasting_state.h"
#include "tools/augurfs_options.h"
#include "tools/daemon_control.h"
#include "tools/daemon_mount.h"
#include "tools/daemon_upgrade.h"
#include "tools/mount_stack.h"
#include "tools/mount_transport.h"

namespace augur {

// What a ControlEndpoint tells of; all of it outlives it.
struct ControlledMount {
  const AugurfsOptions& options;
  const DaemonMount& mount;
  const MountTransport& transport;
  MountStack& stack;
  const LastingState* state;  // of the holder; nullptr: there was none
};

// ControlEndpoint is where an operator reaches a daemon: the virtual files of the mount, and the socket that one of
// them names, with what answers there. For the main thread.
class ControlEndpoint {
 public:
  // `log`: the place of the log, for people. REQUIRES: the mount does not answer yet.
  ControlEndpoint(const ControlledMount& mount, const std::string& log);
  ControlEndpoint(const ControlEndpoint&) = delete;
  ControlEndpoint& operator=(const ControlEndpoint&) = delete;

  // Why there is no socket, for the log; empty: there is one. Without it the mount is as good; augurctl says so.
  const std::string& problem() const { return problem_; }
  // nullptr: there is no socket.
  DaemonUpgrade* upgrade() { return upgrade_.get(); }
  // Whoever waits for an answer is told that the daemon ends. None is served afterwards.
  void Stop();

 private:
  Status Listen();

  const ControlledMount mount_;
  std::unique_ptr<DaemonControl> control_;
  std::unique_ptr<DaemonUpgrade> upgrade_;
  std::unique_ptr<ControlServer> server_;
  std::string problem_;
};

}  // namespace augur
