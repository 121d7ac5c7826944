// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/read_schedule.h"

namespace augur {

// ReaderSpeed measures how fast the reader's front moves, in files a second: the mean of the last measurement and of
// those before it. Not synchronized; no clock.
class ReaderSpeed {
 public:
  // The front is here now. A front that has gone back begins another measurement.
  void Measure(Position front, uint64_t now_us) {
    if (since_us_ == 0 || front < from_) {
      since_us_ = now_us;
      from_ = front;
      return;
    }
    const uint64_t passed_us = now_us - since_us_;
    if (passed_us < kMeasureUs) return;
    const double speed = static_cast<double>(front - from_) * 1e6 / static_cast<double>(passed_us);
    files_per_second_ = files_per_second_ == 0 ? speed : (files_per_second_ + speed) / 2;
    since_us_ = now_us;
    from_ = front;
  }
  // The next Measure begins another measurement: the reader had nothing to read meanwhile.
  void Restart() { since_us_ = 0; }

  // False until the front was seen to move.
  bool known() const { return files_per_second_ > 0; }
  // The files that the reader reads in this time; 0 when its speed is not known.
  Position FilesIn(double seconds) const { return static_cast<Position>(files_per_second_ * seconds); }

 private:
  // A measurement takes at least this time.
  static constexpr uint64_t kMeasureUs = 100'000;

  double files_per_second_ = 0;
  Position from_ = 0;
  uint64_t since_us_ = 0;  // 0: no measurement has begun
};

}  // namespace augur
