// SPDX-License-Identifier: Apache-2.0
#include "fuse/program_trial.h"

#include <utility>

namespace augur {

void ProgramTrial::Begin(HeldProgram next, Clock::time_point now) {
  before_ = std::move(program_);
  program_ = std::move(next);
  due_ = now + kMax;
}

void ProgramTrial::Fail() {
  if (before_) program_ = std::move(*before_);
  before_.reset();
}

bool ProgramTrial::IsOverdue(Clock::time_point now) {
  if (!is_on() || now < due_) return false;
  due_ = now + kMax;
  return true;
}

}  // namespace augur
