// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signals.h"

#include <unistd.h>

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

// For OnEndSignal. Constant after EndOnStopSignals.
std::string interrupt_line;
std::string terminate_line;

std::string StoppedBy(std::string_view signal, std::string_view cure) {
  return "stopped by " + std::string(signal) + std::string(cure);
}

void OnEndSignal(int number) {
  const std::string& line = number == SIGTERM ? terminate_line : interrupt_line;
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  _exit(kExitError);
}

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
  PrintError(program, StoppedBy(StopSignals::CaughtName(), cure));
  return kExitError;
}

void EndOnStopSignals(std::string_view program, std::string_view cure) {
  const std::string begin = std::string(program) + ": ";
  interrupt_line = begin + StoppedBy("SIGINT", cure) + "\n";
  terminate_line = begin + StoppedBy("SIGTERM", cure) + "\n";
  struct sigaction action = {};
  action.sa_handler = OnEndSignal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace augur
