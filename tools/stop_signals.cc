// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signals.h"

#include <atomic>
#include <csignal>
#include <string>

#include "tools/output.h"

namespace augur {
namespace {

// All that a signal handler may touch.
std::atomic<int> caught_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int number) { caught_signal = number; }

}  // namespace

StopSignals::StopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool StopSignals::Caught() { return caught_signal != 0; }

std::string_view StopSignals::CaughtName() { return caught_signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

int FailStopped(std::string_view program, std::string_view cure) {
  PrintError(program, "stopped by " + std::string(StopSignals::CaughtName()) + std::string(cure));
  return kExitError;
}

}  // namespace augur
