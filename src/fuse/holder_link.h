// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/holder_message.h"
#include "fuse/lasting_state.h"

namespace augur {

// HolderLink is a daemon's side of its Holder: what it was handed, and what it tells. One thread, but for crash_fd().
// Owns the socket. Telling never waits long: the holder does nothing but listen.
class HolderLink {
 public:
  // What the holder has forked this process for.
  enum class Task {
    kFirst,   // to make the mount and serve it
    kGoOn,    // to serve the mount of a daemon that has died
    kNext,    // to prepare, and to serve the mount once the daemon that does hands it over
    kGiveUp,  // to say in the log that the mount has ended, and why: no daemon serves it any more
  };

  // `errors`: where stderr is to lead from AwaitTurn on; invalid: where it does now.
  HolderLink(Task task, LastingState::Shared state, UniqueFd socket, UniqueFd device, UniqueFd errors = {})
      : task_(task),
        state_(state.state),
        state_fd_(std::move(state.fd)),
        socket_(std::move(socket)),
        device_(std::move(device)),
        errors_(std::move(errors)) {}

  Task task() const { return task_; }
  // Another daemon has served this mount.
  bool goes_on() const { return task_ == Task::kGoOn || task_ == Task::kNext; }
  LastingState& state() const { return *state_; }
  // Of its memory; taken at most once.
  UniqueFd TakeStateFd() { return std::move(state_fd_); }
  // Readable when Hear has something to tell.
  int fd() const { return socket_.get(); }
  // Of /dev/fuse; invalid in the first daemon, unless the descriptor was handed down to us.
  UniqueFd TakeDevice() { return std::move(device_); }
  // The same, while it is not taken; -1: there is none.
  int device() const { return device_.get(); }
  // FUSE_INIT of the kernel. REQUIRES: goes_on().
  std::span<const std::byte> init() const;

  // By the first daemon: the mount is made. `index` is -1 where nothing is locked.
  void Mounted(int device, const std::string& device_number, int index);
  // The thread by whose end the holder knows of ours early. A process is only gone when its last thread is, and one
  // that pushes pages may hang in the kernel until the next daemon answers a READ.
  void Watch(pid_t thread);
  // By one that goes on with the mount, before it takes the first request: who kills it then does so from outside.
  void Takes();
  // From now on another daemon goes on with the mount when this one dies, if the kernel can (KernelResends), and
  // whoever waits for the mount is let go. `index` is what keeps the store's index locked from now on, -1 where nothing
  // is locked. kStopped: the holder is gone.
  Status Ready(int index = -1);
  // The mount ends: its descriptor is this process's alone, and when that dies no other one is started.
  void Ending();
  // The last word of a process that ends by itself.
  void Exiting(int status);

  // Of an upgrade, by the daemon that serves. Asks for another program; `errors` gets its stderr. What becomes of it is
  // heard: kHandOver or kNotStarted.
  void AskForUpgrade(const ProgramRequest& request, int errors);
  // The verb kNothing: the holder has said nothing. kStopped: it is gone.
  Result<HolderMessage> Hear();
  // This process takes no request any more.
  void HandedOver();
  // ... by the next one: says that it is prepared, and waits until it shall serve. From then on stderr is its own.
  // kStopped: the holder is gone.
  Status AwaitTurn();

  // Where a signal handler writes DyingMessage.
  int crash_fd() const { return socket_.get(); }
  static HolderMessage DyingMessage(int signal) { return {.verb = HolderVerb::kDying, .value = signal}; }

 private:
  bool Tell(const HolderMessage& message, std::span<const int> fds = {});

  Task task_;
  LastingState* state_;
  UniqueFd state_fd_;
  UniqueFd socket_;
  UniqueFd device_;
  UniqueFd errors_;
};

// Whether a kernel that sent this FUSE_INIT hands the requests of a dead daemon to the next one (Linux 6.9).
bool KernelResends(std::span<const std::byte> init);

// "was killed by signal 11 (SEGV)", and where its core is.
std::string DescribeDeath(const DaemonDeath& death);

}  // namespace augur
