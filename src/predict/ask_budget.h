// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// AskBudget bounds what the questions of all jobs together cost the thread that asks them: an account, full at first,
// that grows with time, and from which the processor time of each question is taken. While it is empty nothing is
// asked. Clock-free; for one thread.
class AskBudget {
 public:
  // Two jobs that read a million files and are asked about until all that may tell has been tried, 2 s a question; or
  // hundreds that read some thousand.
  static constexpr double kFullSeconds = 30;
  // Of one core, what is to be had in the long run, however many jobs come and go.
  static constexpr double kShare = 0.1;

  // Whether a question may be asked at this time, of a clock that goes forward.
  bool MayAsk(uint64_t now_us);
  // One was asked, and took so much processor time.
  void Pay(double seconds);

 private:
  double account_ = kFullSeconds;
  uint64_t now_us_ = 0;
};

}  // namespace augur
