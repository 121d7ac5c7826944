// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/limit_fit.h"

namespace augur {

// DiskModel learns what a read costs on this disk: so much for each read, and so much for each byte. Their quotient
// says how many bytes may be read for nothing rather than begin another read. Times are handed in; not synchronized.
//
// Two opinions of the disk are held beside each other, and the one that has predicted the times of late windows better
// is believed. A disk that seeks: while it is kept busy, time goes by at `read_us` * reads + `byte_us` * bytes, a line
// through windows of some reads each, found by least squares; older windows count less and less, because a disk is
// shared and its speed changes. And a disk with two limits (LimitFit), through whose windows no line goes: where the
// reads bind, bytes seem to be free, where the bytes bind, reads do, and a line wanders between the two.
//
// A control group enforces its limits in slices of a tenth of a second: what a slice allows may be had at its
// beginning, and then nothing until it ends. Windows that begin or end anywhere in that say anything; so as soon as
// pauses are seen, a window goes from the end of one to the end of another.
class DiskModel {
 public:
  // A read has begun or ended. Time counts while at least one is under way.
  void Begin(uint64_t now_us);
  void End(uint64_t now_us, uint64_t bytes);
  // The read that was begun last was not begun after all.
  void Withdraw();
  // The disk could have done more than it was asked for: nothing is learned from the time around now.
  void Spare(uint64_t now_us);

  // What so many reads of so many bytes together take.
  double CostUs(uint64_t reads, uint64_t bytes) const;
  // Microseconds for one more read, and for one more byte, where nothing else holds it up.
  double read_us() const { return limits_ ? limit_fit_.read_us() : read_us_; }
  double byte_us() const { return limits_ ? limit_fit_.byte_us() : byte_us_; }
  // As many bytes as are read in the time that another read costs.
  uint64_t free_gap_bytes() const;
  // The same, but a byte never costs less than the machine takes to read it into memory, check and copy it: where reads
  // come one by one beside busy readers, the model may take bytes for free.
  uint64_t worth_gap_bytes() const;
  // As many bytes as long reads have brought in the time of the shortest, whatever opinion is believed: what was seen,
  // nothing that was reckoned from it. Once long reads were tried, it is the gap; before, about the length of a read.
  uint64_t tried_gap_bytes() const;
  // The same as free_gap_bytes, but not much more than reads were already seen to take along for nothing: a line that
  // has seen no long reads takes bytes for free. Whoever reads as long as this shows what longer reads cost.
  uint64_t shown_gap_bytes() const;
  // Bytes a second when they are read in large pieces.
  double bytes_per_second() const { return 1e6 / byte_us(); }
  bool known() const { return windows_ >= kWindowsToKnow; }
  // So many windows were learned from, ever.
  int windows() const { return windows_; }

 private:
  static constexpr int kWindowsToKnow = 4;
  // A window ends after so many reads and so much time: shorter ones say more of the timer than of the disk.
  // Longer ones say it with less noise, when there is time for that.
  static constexpr uint64_t kWindowReads = 8;
  static constexpr uint64_t kLaterWindowReads = 16;
  static constexpr uint64_t kWindowUs = 20'000;
  // Where reads take longer than this, limits that are enforced in steps of a tenth of a second are the usual reason. A
  // window of one step has half of the reads, or twice as many, that the limit allows: four steps are enough.
  static constexpr uint64_t kDearReadUs = 4'000;
  static constexpr uint64_t kDearWindowUs = 400'000;
  // The first are of one step, so that something is soon known.
  static constexpr int kFirstWindows = 8;
  // No read has ended for so long, though some were under way: longer than a read of a MB takes on any disk that seeks.
  static constexpr uint64_t kPauseUs = 25'000;
  // Two pauses within this time are not a busy machine's, but a limit's. Without another for so long, it was one.
  static constexpr uint64_t kPausesUs = 300'000;
  static constexpr uint64_t kNoPausesUs = 1'000'000;
  static constexpr double kForget = 0.99;  // what a window counts for after the next one

  void SeePause(uint64_t now_us);
  void CloseWindow(uint64_t now_us);
  void BeginWindow(uint64_t now_us);
  void Fit();
  void Compare(double reads, double bytes, double us);

  uint64_t reads_under_way_ = 0;
  uint64_t window_begin_us_ = 0;
  uint64_t window_reads_ = 0;
  uint64_t window_bytes_ = 0;
  int windows_ = 0;
  uint64_t last_end_us_ = 0;    // of a read, or since when the disk is busy again
  uint64_t last_pause_us_ = 0;  // when it was over; 0: there was none
  bool pauses_ = false;         // they come again and again
  bool aligned_ = false;        // the window has begun at the end of a pause

  // Sums over windows of products of reads, bytes (in MB, so that the numbers are of a size) and time.
  double rr_ = 0, rb_ = 0, bb_ = 0, rt_ = 0, bt_ = 0;

  // Until it is known: a cheap SSD, on which neighbours are joined but no gap is worth reading.
  double read_us_ = 30;
  double byte_us_ = 0.001;

  LimitFit limit_fit_;
  bool limits_ = false;
  // Squares of the relative errors of what was predicted, older ones counting less.
  double line_error_ = 0;
  double limit_error_ = 0;
};

}  // namespace augur
