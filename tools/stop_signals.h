// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace augur {

// Catches SIGINT and SIGTERM from construction on, for commands that can end tidily. The first one is remembered; the
// second ends the process at once. One at a time, for the rest of the process.
class StopSignals {
 public:
  StopSignals();
  // Whether one came. Any thread.
  static bool Caught();
  // "SIGINT", "SIGTERM".
  static std::string_view CaughtName();
};

// Says on stderr that the signal has stopped the program, with `cure`: what it leaves, and what to do. Returns the exit
// status of an error.
int FailStopped(std::string_view program, std::string_view cure);

// From now on SIGINT and SIGTERM end the process at once, as FailStopped does: for a command that waits in a system
// call for what goes on without it. In place of StopSignals.
void EndOnStopSignals(std::string_view program, std::string_view cure);

}  // namespace augur
