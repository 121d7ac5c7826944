// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// EndOnSignal ends the process with kExitError, and a sentence on stderr, when SIGINT, SIGTERM or SIGHUP comes while it
// lives: as long as there is no mount nothing needs tidying, and opening a store may wait for a server for a minute.
// Owns one thread. Not for a daemon that serves, which unmounts first.
class EndOnSignal {
 public:
  // `signals`: of TakeSignals; it must outlive this. `text` comes behind "stopped by SIGINT". kNoSpace: the system
  // gives no thread or descriptor.
  static Result<std::unique_ptr<EndOnSignal>> Start(const UniqueFd& signals, std::string text);
  // Signals that come from now on stay for whoever reads them.
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  EndOnSignal(const UniqueFd& signals, std::string text, UniqueFd end)
      : signals_(signals), text_(std::move(text)), end_(std::move(end)) {}
  void Watch() const;

  // Constant after construction.
  const UniqueFd& signals_;
  const std::string text_;
  const UniqueFd end_;  // an eventfd, which ends the thread
  std::thread thread_;
};

}  // namespace augur
