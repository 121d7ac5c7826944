// SPDX-License-Identifier: Apache-2.0
#include "fuse/upgrade_attempt.h"

#include <utility>

namespace augur {

UpgradeAttempt UpgradeAttempt::Of(const ProgramRequest& request, UniqueFd errors, const HeldProgram& running,
                                  const std::string& own) {
  UpgradeAttempt attempt;
  attempt.errors = std::move(errors);
  attempt.prepares_until = Clock::now() + std::chrono::seconds(kPreparedWithinSeconds);
  ProgramRequest& wanted = attempt.program.request;
  wanted = request;
  wanted.path.back() = wanted.options.back() = '\0';
  if (wanted.path[0] == '\0' && running.file.valid()) wanted.path = running.request.path;
  if (wanted.path[0] == '\0') own.copy(wanted.path.data(), wanted.path.size() - 1);
  return attempt;
}

bool UpgradeAttempt::Note(const HolderMessage& message, std::span<UniqueFd> fds) {
  switch (message.verb) {
    case HolderVerb::kProgram:
      if (!fds.empty()) program.file = std::move(fds[0]);
      return false;
    case HolderVerb::kPrepared: is_prepared = true; return true;
    default: return false;  // its end is seen
  }
}

std::optional<int32_t> UpgradeAttempt::Failure(Clock::time_point now) const {
  if (!is_under_way()) return std::nullopt;
  if (daemon.HasEnded()) {
    const std::optional<DaemonDeath> death = daemon.HowItEnded();
    return death ? WaitStatus(*death) : kEndUnknown;
  }
  if (!is_prepared && now >= prepares_until) return kNotInTime;
  return std::nullopt;
}

std::optional<UpgradeAttempt::Clock::time_point> UpgradeAttempt::due() const {
  if (is_under_way() && !is_prepared) return prepares_until;
  return std::nullopt;
}

}  // namespace augur
