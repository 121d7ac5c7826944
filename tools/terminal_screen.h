// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// TerminalScreen shows lines on the terminal of stdout: on its other screen, so that the first one comes back, without
// a cursor, and without an echo of keys. Everything is put back when it ends, and by Ctrl-Z until the program goes on.
// SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH are taken by Wait while there is one. For one thread, one at a time.
class TerminalScreen {
 public:
  // kInvalid: stdout is no terminal.
  static Result<TerminalScreen> Open();
  ~TerminalScreen();
  TerminalScreen(TerminalScreen&& other) noexcept;
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  // As the window is now.
  size_t columns() const;
  size_t rows() const;
  // Replaces all that is shown. A failure to write is none: the terminal may be gone, and then Wait says so.
  void Show(const std::vector<std::string>& lines);

  enum class Event { kTime, kResized, kEnd };
  // Until `time` has passed, the window has another size, or the user wants the end: 'q', Ctrl-C, SIGTERM, SIGHUP.
  Event Wait(std::chrono::milliseconds time);
  // The signal that has ended it; 0: none.
  int signal() const { return signal_; }

 private:
  TerminalScreen(UniqueFd signals, const sigset_t& mask) : signals_(std::move(signals)), mask_before_(mask) {}
  void Enter();
  void Leave();
  void Suspend();

  UniqueFd signals_;  // invalid: it was moved from
  sigset_t mask_before_;
  bool keys_ = false;      // stdin is a terminal whose keys are read
  termios keys_before_{};  // if so
  int signal_ = 0;
};

}  // namespace augur
