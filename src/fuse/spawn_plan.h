// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace augur {

// SpawnPlan starts another program as from a shell, however this process treats signals: attributes and file actions
// of posix_spawn, destroyed together. One thread.
class SpawnPlan {
 public:
  SpawnPlan();
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan();

  // `to` in the child is our `from`. When both are the same number, close-on-exec is taken off it.
  void Give(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }

  // The program is arguments[0], looked for in PATH. Returns 0 or an errno value. REQUIRES: arguments.
  int Spawn(std::vector<std::string> arguments, std::vector<std::string> extra_environment, pid_t* pid);

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

// All that comes from `fd` to its end, on one line.
std::string ReadAsLine(int fd);

// Waits for a child. Returns its status, as waitpid(2) has it.
int WaitForEnd(pid_t pid);

}  // namespace augur
