// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"

namespace augur {

// Where a daemon logs when its stderr is closed.
struct LogPlace {
  LogTarget target = LogTarget::kSyslog;
  std::string path;    // of LogTarget::kFile
  std::string notice;  // for who mounts, where it is not what he expects; else empty
  // For people: "system log", "standard error", the path, or that there is no place.
  std::string Describe() const;
};

// More than this is moved aside, as FILE.old, when a mount begins.
inline constexpr uint64_t kRuntimeLogBytesMax = uint64_t{8} << 20;

// The system log where there is one. Where there is none, as in most containers, a file named after the mount point in
// the first of `folders` that is this user's alone (TakeRuntimeFolder). The file exists then, is a regular file of this
// user with one name, and can be opened by its path. Where none can be had, the notice says that nothing is logged.
LogPlace PlaceWithoutFile(const std::string& mount_point, const std::vector<std::string>& folders);

}  // namespace augur
