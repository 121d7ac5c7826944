// SPDX-License-Identifier: Apache-2.0
#include "prefetch/limit_fit.h"

#include <algorithm>

namespace augur {
namespace {

// Of the way to what a window shows. A quicker one is believed sooner, as nothing but the disk makes it quick; but not
// at once, as limits are enforced in steps of up to a tenth of a second, and a window can begin behind one. After five
// windows 8 % of an error are left (0.6^5), and one that goes up doubles in three windows at least (1.25^3).
constexpr double kDown = 0.4;
constexpr double kUp = 0.25;
// A window that is so many times as quick as predicted shows what was not tried before.
constexpr double kFarther = 1.25;
// Where one limit takes so many times as long as the other or less, it is not known which of them binds.
constexpr double kAlike = 1.2;
// A window that took longer than this by others' doing is not taken for more.
constexpr double kLongest = 2;

double Down(double us, double predicted) { return us * kFarther < predicted ? 2 * kDown : kDown; }

}  // namespace

double LimitFit::CostUs(double reads, double bytes) const { return std::max(read_us_ * reads, byte_us_ * bytes); }

void LimitFit::Add(double reads, double bytes, double us) {
  if (reads <= 0 || bytes <= 0) return;
  if (read_us_ == 0) {
    read_us_ = us / reads;
    byte_us_ = us / bytes;
    return;
  }
  const double by_reads = read_us_ * reads;
  const double by_bytes = byte_us_ * bytes;
  const double longer = std::max(by_reads, by_bytes);
  if (us < kFarther * longer && longer < kFarther * us) {
    if (by_reads > kAlike * by_bytes) reads_seen_ = true;
    if (by_bytes > kAlike * by_reads) bytes_seen_ = true;
  }
  if (us < by_reads) read_us_ += Down(us, by_reads) * (us / reads - read_us_);
  if (us < by_bytes) byte_us_ += Down(us, by_bytes) * (us / bytes - byte_us_);
  if (us <= longer) return;
  const double up = 1 + kUp * (std::min(us / longer, kLongest) - 1);
  (by_reads >= by_bytes ? read_us_ : byte_us_) *= up;
}

}  // namespace augur
