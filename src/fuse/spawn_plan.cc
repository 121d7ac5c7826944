// SPDX-License-Identifier: Apache-2.0
#include "fuse/spawn_plan.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace augur {

SpawnPlan::SpawnPlan() {
  posix_spawnattr_init(&attributes_);
  posix_spawn_file_actions_init(&actions_);
  // The daemon blocks signals and ignores some.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes_, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int one : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&defaults, one);
  posix_spawnattr_setsigdefault(&attributes_, &defaults);
  posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

SpawnPlan::~SpawnPlan() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

int SpawnPlan::Spawn(std::vector<std::string> arguments, std::vector<std::string> extra_environment, pid_t* pid) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  environment.reserve(extra_environment.size() + 1);
  for (std::string& variable : extra_environment) environment.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  return posix_spawnp(pid, argv[0], &actions_, &attributes_, argv.data(), environment.data());
}

std::string ReadAsLine(int fd) {
  std::string text;
  std::array<char, 1024> piece;
  while (true) {
    const ssize_t bytes = read(fd, piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    text.append(piece.data(), static_cast<size_t>(bytes));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

int WaitForEnd(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace augur
