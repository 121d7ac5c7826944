// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/daemon_fork.h"
#include "fuse/dying_daemons.h"
#include "fuse/held_daemon.h"
#include "fuse/held_mount.h"
#include "fuse/holder_link.h"
#include "fuse/holder_message.h"
#include "fuse/lasting_state.h"
#include "fuse/pending_signals.h"
#include "fuse/program_trial.h"
#include "fuse/recent_deaths.h"
#include "fuse/upgrade_attempt.h"

namespace augur {

struct HolderOptions {
  std::function<void()>
      on_forked;        // called in the holder once the first daemon is there; closes descriptors that are for it alone
  std::string path;     // of the mount, absolute, or /dev/fd/N
  UniqueFd device;      // of /dev/fuse, where it was handed down to us
  bool leaves = false;  // its caller: a session of its own, and no streams
  UniqueFd caller;      // a byte is written here when the mount answers; invalid: no caller waits
  OwnProgram program;
};

// Holder is the process of a mount that does not die with its daemon (augur-holder). It keeps the descriptor of
// /dev/fuse, so that the kernel keeps the connection and the requests on it, and starts another daemon when one dies.
// Readers wait meanwhile, and see no error.
//
// It is this program, forked: what it hands to a daemon is its own memory, as it was before the first one (options,
// mount point, LastingState). Each daemon makes the rest anew. After the start it allocates nothing, logs nothing, and
// waits for nothing but signals and its daemons. What a signal says to it, it passes on. One thread.
//
// An upgrade is asked for by the daemon that serves. The holder forks a process that executes the other program, and
// the two run beside each other until the new one is prepared. Then the old one is told, stops to take requests, and
// answers what it has; the new one takes the rest. A new one that ends, dies, or takes too long before it is prepared
// costs nothing: the old one is told why, and serves on. One that does so later, before the mount answers, is followed
// by a daemon of the program before. From then on a daemon that dies is followed by one of the new program.
//
// It starts no other daemon in these cases, ends the connection, and ends itself as the daemon did:
//   1. The daemon has said that it ends the mount, or has ended by itself with status 0.
//   2. It died before the mount answered for the first time.
//   3. The kernel cannot hand over requests (Linux before 6.9).
//   4. Three have died within ten seconds. A SIGKILL of a daemon that took requests is not counted, as it comes from
//      outside. Nor is one of another program that has not served yet.
class Holder {
 public:
  // Forks the first daemon. Returns in each daemon, and never in the holder. REQUIRES: this process has one thread.
  // Failures: before there is a daemon.
  static Result<HolderLink> Hold(HolderOptions options);

 private:
  using Clock = std::chrono::steady_clock;
  using Task = HolderLink::Task;

  // Takes what it keeps of `options`.
  Holder(HolderOptions& options, LastingState::Shared state, PendingSignals signals)
      : caller_(std::move(options.caller)),
        signals_(std::move(signals)),
        mount_(std::move(options.path), std::move(options.device)),
        fork_(std::move(options.program), std::move(state)) {}

  // The loop of the holder. Returns in daemons only.
  HolderLink Run();
  // Until something has come, or is due.
  void Wait();
  void Listen();
  bool Hear(HeldDaemon& daemon);
  void Obey(const HolderMessage& message, std::span<UniqueFd> fds);
  void Ready(bool can_go_on);

  // Upgrades.
  void BeginUpgrade(const ProgramRequest& request, std::span<UniqueFd> fds);
  void GiveUpUpgrade(int32_t why);
  void HandedOver();
  void MakeNextServe();

  void LookForDead();
  void DaemonEnded(DaemonDeath death);
  // The daemon is dying, which may take long: another one is started soon, without waiting for its end.
  void DaemonDies(int signal);
  void LetGo(std::chrono::milliseconds resend_pause);
  // Whether it is one of those that can be too many.
  bool Counts(const DaemonDeath& death) const;
  void Remember(DaemonDeath death, bool counts);
  bool StartNext();
  // Returns in a daemon, too. False: no process can be had.
  bool Fork(Task task);
  [[noreturn]] void End(const DaemonDeath& death);

  UniqueFd caller_;
  PendingSignals signals_;
  HeldMount mount_;
  DaemonFork fork_;

  // The daemon that runs.
  HeldDaemon daemon_;
  pid_t daemon_pid_ = -1;  // it or the last one
  ProgramTrial trial_;

  // The one that may be next.
  UpgradeAttempt next_;

  // Those before it.
  std::optional<Clock::time_point> start_next_at_;
  DyingDaemons dying_;
  RecentDeaths deaths_;
};

}  // namespace augur
