// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace augur {

// The processes beside the mount that bench/observe measures.

double Seconds(clockid_t clock);
double CpuSeconds(pid_t pid);

// A forked process that speaks with us over two pipes. Ends when this does.
class Peer {
 public:
  // `body` gets the pipe that it reads and the one that it writes.
  explicit Peer(const std::function<void(int in, int out)>& body);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();
  void Say(uint64_t word) const;
  uint64_t Hear() const;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd to_;
  UniqueFd from_;
};

// Reads all files each time it is told to. Says how many it has done after each step, and at the end the nanoseconds.
void ReadAll(const std::vector<std::string>& paths, int in, int out);

// Marks the mount when it is told to, then counts opens; the inode's number is the file's.
void WatchByFanotify(const std::string& point, int in, int out);

}  // namespace augur
