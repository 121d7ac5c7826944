// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// LimitFit takes the disk for one with two limits, of reads a second and of bytes a second: whichever takes longer
// binds. That is what a control group and most cloud disks are. Both costs come down to what a window shows to be
// possible, and only that one goes up, slowly, which held a window up that took longer. Not synchronized.
class LimitFit {
 public:
  // A window of time in which the disk was kept busy.
  void Add(double reads, double bytes, double us);
  double CostUs(double reads, double bytes) const;

  // Whether each of the limits was seen to bind when the other did not. Before, the costs are no more than an upper
  // bound: a rate that was not tried is not known to be possible.
  bool known() const { return reads_seen_ >= kSeenToKnow && bytes_seen_ >= kSeenToKnow; }

  double read_us() const { return read_us_; }
  double byte_us() const { return byte_us_; }

 private:
  static constexpr int kSeenToKnow = 1;

  // 0: nothing is known.
  double read_us_ = 0;
  double byte_us_ = 0;
  int reads_seen_ = 0;  // windows that one of them held up alone
  int bytes_seen_ = 0;
};

}  // namespace augur
