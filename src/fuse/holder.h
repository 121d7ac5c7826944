// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/connection_abort.h"
#include "fuse/holder_link.h"
#include "fuse/holder_message.h"
#include "fuse/lasting_state.h"
#include "fuse/process_title.h"

namespace augur {

struct HolderOptions {
  std::function<void()>
      on_forked;        // called in the holder once the first daemon is there; lets go what is for that alone
  std::string path;     // of the mount, absolute, or /dev/fd/N
  UniqueFd device;      // of /dev/fuse, where it was handed down to us
  bool leaves = false;  // its caller: a session of its own, and no streams
  UniqueFd caller;      // a byte is written here when the mount answers; invalid: nobody waits
};

// Holder is the process of a mount that does not die with its daemon (augur-holder). It keeps the descriptor of
// /dev/fuse, so that the kernel keeps the connection and the requests on it, and starts another daemon when one dies.
// Readers wait meanwhile, and see no error.
//
// It is this program, forked: what it hands to a daemon is its own memory, as it was before the first one (options,
// mount point, LastingState). Each daemon makes the rest anew. After the start it allocates nothing, logs nothing, and
// waits for nothing but signals and its daemon. What a signal says to it, it passes on. One thread.
//
// It starts no other daemon in these cases, ends the connection, and ends itself as the daemon did:
//   1. The daemon has said that it ends the mount, or has ended by itself with status 0.
//   2. It died before the mount answered for the first time.
//   3. The kernel cannot hand over requests (Linux before 6.9).
//   4. Three have died within ten seconds. A SIGKILL of a daemon that served is not counted: it comes from outside.
class Holder {
 public:
  // Forks the first daemon. Returns in each daemon, and never in the holder. REQUIRES: this process has one thread.
  // Failures: before there is a daemon.
  static Result<HolderLink> Hold(HolderOptions options);

 private:
  using Clock = std::chrono::steady_clock;
  // Deaths that are remembered to tell whether they are too many.
  static constexpr size_t kDeathsMax = 3;
  // Daemons that have died and are not gone yet.
  static constexpr size_t kDyingMax = 8;

  Holder(HolderOptions options, LastingState& state, UniqueFd signals)
      : options_(std::move(options)), state_(state), signals_(std::move(signals)) {}

  // The loop of the holder. Returns in daemons only.
  HolderLink Run();
  bool Fork(HolderLink::Task task);
  void LeaveCaller();
  // Until something has come, or is due.
  void Wait();
  void PassSignalsOn();
  void Listen();
  bool Hear();
  void Obey(const HolderMessage& message, std::span<UniqueFd> fds);
  void Mounted(const HolderMessage& message, std::span<UniqueFd> fds);
  void Ready(bool can_go_on);

  void LookForDead();
  DaemonDeath HowItEnded() const;
  void DaemonEnded(DaemonDeath death);
  // The daemon is dying, which may take long: another one is started soon, without waiting for its end.
  void DaemonDies(int signal);
  void Remember(DaemonDeath death);
  bool StartNext();
  // Makes the kernel hand out again what no living daemon will answer.
  void Resend();
  [[noreturn]] void End(const DaemonDeath& death);

  // Constant after construction, but for what is let go.
  HolderOptions options_;
  LastingState& state_;
  const UniqueFd signals_;
  ProcessTitle title_;

  // The mount.
  UniqueFd index_;  // keeps the store's generation from being removed while no daemon holds it
  std::optional<ConnectionAbort> abort_;
  bool was_ready_ = false;  // the mount has answered
  bool can_go_on_ = false;
  bool ending_ = false;

  // The daemon that runs.
  pid_t daemon_ = -1;      // it has ended
  pid_t daemon_pid_ = -1;  // it or the last one
  UniqueFd socket_;
  UniqueFd process_;                // a pidfd
  UniqueFd watch_;                  // a pidfd of one of its threads
  std::optional<int> exit_status_;  // it said that it ends by itself
  bool serves_ = false;             // it is ready

  // Those before it.
  std::optional<Clock::time_point> start_next_at_;
  std::optional<Clock::time_point> resend_at_;
  std::chrono::milliseconds resend_pause_{};
  std::array<UniqueFd, kDyingMax> dying_;  // pidfds
  std::array<Clock::time_point, kDeathsMax> deaths_{};
  uint64_t death_count_ = 0;
  int pending_signal_ = 0;  // came while there was no daemon
  bool gives_up_ = false;

  HolderLink::Task task_ = HolderLink::Task::kFirst;  // of the last process that was forked
  UniqueFd link_;
};

}  // namespace augur
