// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "s3/utc_time.h"

namespace augur {

// RenewalSchedule says when credentials are to be renewed. Without a clock and without threads: the caller gives the
// time. It bets that a source which fails will work again soon, and that its service must not be flooded meanwhile:
//   1. Credentials are renewed kLead before they expire, or at half of their life if that is shorter than twice kLead.
//   2. After a failure the next attempt comes after kFirstPause, and the pause doubles up to kPauseMax.
//   3. Credentials that do not expire are renewed only when a server refuses them.
class RenewalSchedule {
 public:
  static constexpr std::chrono::minutes kLead{5};
  static constexpr std::chrono::seconds kFirstPause{2};
  static constexpr std::chrono::seconds kPauseMax{60};

  void Succeeded(UtcTime now, std::optional<UtcTime> expiration);
  void Failed(UtcTime now);

  // When to renew without being asked; none: never.
  std::optional<UtcTime> due() const { return due_; }
  // Whether a renewal that a waiting request asks for may be tried: the pause after a failure is over. A clock that was
  // set back ends it, too.
  bool MayTry(UtcTime now) const;

 private:
  std::optional<UtcTime> due_;
  std::optional<UtcTime> failed_;  // since the last success: when last
  std::chrono::seconds pause_{0};  // after that failure
};

}  // namespace augur
