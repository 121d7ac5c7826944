// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// TryBudget bounds what the tries for the orders of all jobs together cost the thread that makes them (OrderFinder). It
// is an account, full at first, that grows with time. The processor time of each try is taken from it. While it is
// empty no try is made. Clock-free; for one thread.
class TryBudget {
 public:
  // Two jobs that read a million files, with tries of 2 s until all that may tell has been tried; or hundreds that read
  // some thousand.
  static constexpr double kFullSeconds = 30;
  // The part of one core that tries may take in the long run, however many jobs come and go.
  static constexpr double kShare = 0.1;

  // Whether a try may be made at this time, of a clock that goes forward.
  bool MayTry(uint64_t now_us);
  // A try was made, and took `seconds` of processor time.
  void Pay(double seconds);

 private:
  double account_ = kFullSeconds;
  uint64_t now_us_ = 0;
};

}  // namespace augur
