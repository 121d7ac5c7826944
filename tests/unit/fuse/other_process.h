// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace augur {

// A child process that runs a function and hands back what it returns. It has no descriptor of ours but its pipe, so it
// can look into a mount that this process serves and ends with it. The function may use no lock that another thread may
// hold: plain system calls and memory.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<std::string()>& body);
  // Kills it.
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // In the child: hands a line back at once.
  static void Tell(const std::string& line);
  // The next line that it told; empty when it has ended.
  std::string ReadLine();

  // What the function returned; nothing when the process was killed.
  std::optional<std::string> Wait();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd out_;
};

// In a process of its own: opens, fstats, reads whole and closes each file. The bytes of all of them, or the name of
// the error in brackets.
std::string ReadFromOutside(const std::vector<std::string>& paths);

// Whether the process does anything still; a zombie does not.
bool IsRunning(pid_t pid);

// The exit status of a program and its arguments; 128 and more: it was killed. Its output is thrown away.
int RunProgram(const std::vector<std::string>& words);

}  // namespace augur
