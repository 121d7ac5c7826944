// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "fuse/held_daemon.h"

namespace augur {

// ProgramTrial is the program that the daemons of a mount execute. From an upgrade until the mount answers, it keeps
// the program before, to which they return when the new one fails. One thread. Allocates nothing.
class ProgramTrial {
 public:
  using Clock = std::chrono::steady_clock;
  // How long the daemon of another program may take to serve once it is its turn: it has prepared all that takes long.
  static constexpr std::chrono::seconds kMax{10};

  const HeldProgram& program() const { return program_; }
  bool is_on() const { return before_.has_value(); }
  // When IsOverdue is to be asked next.
  std::optional<Clock::time_point> due() const { return is_on() ? std::optional(due_) : std::nullopt; }

  // The trial of `next` begins.
  void Begin(HeldProgram next, Clock::time_point now);
  // The mount answers. Nothing when no trial is on.
  void Pass() { before_.reset(); }
  // Daemons execute the program before. Nothing when no trial is on.
  void Fail();
  // Whether the daemon has taken too long. It has kMax again from then on.
  bool IsOverdue(Clock::time_point now);

 private:
  HeldProgram program_;
  std::optional<HeldProgram> before_;  // none: no trial is on
  Clock::time_point due_;
};

}  // namespace augur
