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
  bool known() const { return reads_seen_ && bytes_seen_; }

  double read_us() const { return read_us_; }
  double byte_us() const { return byte_us_; }

 private:
  // 0: nothing is known.
  double read_us_ = 0;
  double byte_us_ = 0;
  bool reads_seen_ = false;  // a window was held up by this one alone
  bool bytes_seen_ = false;
};

}  // namespace augur
