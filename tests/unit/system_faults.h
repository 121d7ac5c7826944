// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace augur {

// A call of the C library that a test may make fail.
struct SystemCall {
  std::string_view name;  // close, fdatasync, flock, fsync, ftruncate, pread, renameat, sync_file_range
  int fd = -1;
  unsigned flags = 0;  // of flock and sync_file_range
};

// The name of the file that is open as `fd`, without its folder.
std::string NameOf(int fd);
bool IsFolder(int fd);

// SystemFaults make calls of this process fail as a disk or a server makes them fail. A program that is linked with
// system_faults.cc has its own forms of the calls that SystemCall names. One at a time; any thread may make calls.
class SystemFaults {
 public:
  // The errno that the call fails with; 0: it is made. Not called for calls that it makes itself.
  using Decide = std::function<int(const SystemCall&)>;

  explicit SystemFaults(Decide decide);
  ~SystemFaults();
  SystemFaults(const SystemFaults&) = delete;
  SystemFaults& operator=(const SystemFaults&) = delete;
};

}  // namespace augur
