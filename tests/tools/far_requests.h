// SPDX-License-Identifier: Apache-2.0
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "far_nodes.h"
#include "far_weather.h"

namespace augur {

struct FarOptions {
  std::string folder;
  std::string mount;
  int delay_ms = 0;
  unsigned in_flight_max = 256;
  bool no_locks = false;
  bool no_direct = false;
};

// One of each in this process, for the callbacks of libfuse.
struct Far {
  Far(const FarOptions& o, UniqueFd root) : options(o), nodes(std::move(root)), weather(o.delay_ms) {}
  const FarOptions options;
  FarNodes nodes;
  Weather weather;
};

// What answers the kernel's requests. REQUIRES: the session's user data is a Far.
fuse_lowlevel_ops FarRequests(const FarOptions& options);

}  // namespace augur
