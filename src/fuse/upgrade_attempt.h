// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/unique_fd.h"
#include "fuse/held_daemon.h"
#include "fuse/holder_message.h"

namespace augur {

// UpgradeAttempt is an upgrade that a daemon has asked for, until the next daemon takes over. One thread. Allocates
// nothing.
struct UpgradeAttempt {
  using Clock = std::chrono::steady_clock;

  HeldDaemon daemon;  // the next one; if it is not there, no upgrade is under way
  HeldProgram program;
  UniqueFd errors;  // a pipe to the daemon that asked
  bool is_prepared = false;
  Clock::time_point prepares_until;  // not prepared by then: it has failed

  // Its daemon is not there yet. A request without a path means the program that runs: `running`, or `own`, the path of
  // the holder's, when that has no file.
  static UpgradeAttempt Of(const ProgramRequest& request, UniqueFd errors, const HeldProgram& running,
                           const std::string& own);

  bool is_under_way() const { return daemon.is_there(); }
  // Takes in what the next daemon says. True: that it is prepared.
  bool Note(const HolderMessage& message, std::span<UniqueFd> fds);
  // Why it has failed, as kNotStarted says it; nothing: it has not, or is not under way.
  std::optional<int32_t> Failure(Clock::time_point now) const;
  // When Failure is to be asked next, unless the daemon ends before.
  std::optional<Clock::time_point> due() const;
};

}  // namespace augur
