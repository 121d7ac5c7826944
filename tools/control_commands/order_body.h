// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "control/control_client.h"

namespace augur {

// OrderBody is an order file as the body of a request: that of --order. One thread. Owns the descriptor.
class OrderBody {
 public:
  // `path`: a file, or "-": stdin. Failure: it cannot be opened.
  static Result<OrderBody> Open(const std::string& path);

  // Reads what the file, or a pipe, has now. REQUIRES: this outlives it.
  ControlSource source();
  // A failure of the daemon, with the file's name in front where a line of it is wrong, else with the mount point.
  Status Explain(const Status& failure, const std::string& mountpoint) const;

 private:
  OrderBody(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  UniqueFd fd_;
  std::string name_;  // for people
};

}  // namespace augur
