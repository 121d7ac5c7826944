// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/held_daemon.h"
#include "fuse/holder_link.h"
#include "fuse/lasting_state.h"
#include "fuse/process_title.h"

namespace augur {

// The program that a mount was begun with, and what may follow it.
struct OwnProgram {
  std::string path;           // absolute
  bool takes_others = false;  // not from a daemon of another user
  // The command line of a daemon that has these `options` in place of its own, without the program's name. Called in a
  // process that is forked for it. kInvalid: not all of them can change, or a value is wrong.
  std::function<Result<std::vector<std::string>>(const std::string& options)> command_line;
};

// DaemonFork forks the daemons of a Holder. Each has a link to it, and stays a fork of this program, or executes
// another one. One thread. Fork allocates nothing in the holder; a forked process may.
class DaemonFork {
 public:
  using Task = HolderLink::Task;

  DaemonFork(OwnProgram own, LastingState::Shared state) : own_(std::move(own)), state_(std::move(state)) {}

  // From now on this process is shown as the holder of the mount at `path`, and a daemon as the program that it was.
  void ShowHolder(const std::string& path);

  // Forks a process for `task`. `device`: of /dev/fuse; -1: there is none. A process that is to go on executes
  // `program` if that has a file and can be executed. The next one executes it, or ends; its stderr is `errors` until
  // its turn. Returns in the holder, and in each fork (is_daemon). Not there: no process can be had, and errno says
  // why.
  HeldDaemon Fork(Task task, const HeldProgram& program, int device, int errors = -1);

  // Whether this process was forked.
  bool is_daemon() const { return link_.valid(); }
  // Of the last process that was forked.
  Task task() const { return task_; }
  LastingState& state() const { return *state_.state; }
  const std::string& own_path() const { return own_.path; }
  // REQUIRES: is_daemon().
  HolderLink TakeLink(UniqueFd device) { return {task_, std::move(state_), std::move(link_), std::move(device)}; }

 private:
  // What a fork does first.
  void Become(const HeldProgram& program, int device, int errors);
  // Returns only when that cannot be.
  Status Execute(const HeldProgram& program, int device, int errors) const;

  const OwnProgram own_;
  LastingState::Shared state_;
  ProcessTitle title_;
  Task task_ = Task::kFirst;
  UniqueFd link_;
};

}  // namespace augur
