// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "tools/augurfs_options.h"
#include "tools/daemon_mount.h"
#include "tools/log_place.h"
#include "tools/mount_stack.h"
#include "tools/mount_transport.h"

namespace augur {

// DaemonLog is where the messages of a daemon go, and what it says there when its mount answers. Until then warnings go
// to the caller's stderr, and the messages of every start wait for the log. For one thread.
class DaemonLog {
 public:
  // `leaves`: the daemon goes into the background. The options outlive this.
  DaemonLog(const AugurfsOptions& options, bool leaves) : options_(options), leaves_(leaves) {}

  // By the user who serves: another user writes their own log. kInvalid, kIo: it cannot be written to.
  Status Start();
  // Before that.
  Status StartWarning() const;
  // Of a daemon in the background: where its messages will go. Where there is no system log and no -o log=, that is a
  // file.
  void FindPlace(const DaemonMount& mount);
  // For people.
  std::string Describe() const { return place_.Describe(); }
  // Says what the caller should know before it is let go: the place's notice, and the notes of the stack.
  void TellCaller(const MountStack& stack) const;
  // Leaves the caller's streams for the place. As Background::Leave.
  Status Enter() const;
  // Both at once: the caller is gone.
  Status EnterAt(const DaemonMount& mount) {
    FindPlace(mount);
    return Enter();
  }

  // Says which store is mounted where, and how it is served. `problem`: of the ControlEndpoint.
  void SayMounted(const DaemonMount& mount, MountStack& stack, const MountTransport& transport,
                  const std::string& problem) const;
  void SaySettings(const MountStack& stack, const MountTransport& transport) const;
  // Says each thing that is not as asked, and why.
  static void SayNotes(const MountStack& stack, const std::string& problem);

 private:
  const AugurfsOptions& options_;
  const bool leaves_;
  LogPlace place_;
};

}  // namespace augur
