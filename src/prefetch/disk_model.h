// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/limit_fit.h"
#include "prefetch/round_trip.h"

namespace augur {

// DiskModel learns the cost of a read on this disk: a time for each read, and a time for each byte. The quotient of the
// two is the number of unwanted bytes that cost no more than another read. Times are passed in; not synchronized.
//
// Two models are fitted to windows of some reads each. The one that predicted the times of late windows better is used.
// - A line, for a disk that seeks: `read_us` * reads + `byte_us` * bytes, by least squares. Older windows count less,
//   because a disk is shared and its speed changes.
// - Two limits (LimitFit), for a control group or a cloud disk. No line fits these: where the limit of reads binds,
//   bytes seem to be free; where that of bytes binds, reads do; and a line wanders between the two.
//
// A control group enforces its limits in slices of a tenth of a second: reads pass at the beginning of a slice, and
// none after that. A window that begins or ends anywhere in a slice means nothing. So as soon as such pauses are seen,
// a window lasts from the end of one pause to the end of another.
class DiskModel {
 public:
  // A read that takes this or longer is slow: of an SSD one of 1 MB takes 2 ms, and on a disk that seeks any takes 7.
  static constexpr uint64_t kSlowReadUs = 4'000;

  // Of a disk. Until it is known it is a cheap SSD, on which neighbours are joined but no gap is worth reading.
  DiskModel() = default;
  // Of a line to a server: many requests are under way at once, so that another one costs a full line its headers, and
  // both ends some processor time. That is not learned, only what the line brings. Until it is known, 100 MB/s.
  static DiskModel Far();

  // A read has begun or ended. Time counts while at least one is under way.
  void Begin(uint64_t now_us);
  void End(uint64_t now_us, uint64_t bytes);
  // A read that has ended took so long. Not of one that a nearer copy has served: it says nothing of the way there.
  void Took(uint64_t us);
  // Takes back the last Begin: the read was not made.
  void Withdraw();
  // The disk could have done more than it was asked for: nothing is learned from the time around now.
  void Spare(uint64_t now_us);

  // The time that this number of reads takes, of this number of bytes in all.
  double CostUs(uint64_t reads, uint64_t bytes) const;
  // Microseconds for one more read, and for one more byte, where nothing else holds it up.
  double read_us() const { return limits_ ? limit_fit_.read_us() : read_us_; }
  double byte_us() const { return limits_ ? limit_fit_.byte_us() : byte_us_; }
  // The bytes that are read in the time that another read costs.
  uint64_t free_gap_bytes() const;
  // The same, but a byte costs at least the time in which the machine reads, checks and copies it. The model itself may
  // take bytes to be free, where reads come one by one beside busy readers.
  uint64_t worth_gap_bytes() const;
  // The bytes that long reads have brought in the time of the shortest read, as measured, whichever model is used. Once
  // long reads were tried, it is the gap; before, about the length of a read.
  uint64_t tried_gap_bytes() const;
  // The same as free_gap_bytes, but at most 1.6 times tried_gap_bytes: a line that has seen no long reads takes bytes
  // to be free. Reads of this length show the cost of longer ones.
  uint64_t shown_gap_bytes() const;
  // Bytes a second when they are read in large pieces.
  double bytes_per_second() const { return 1e6 / byte_us(); }
  bool known() const { return windows_ >= kWindowsToKnow; }
  // Limits are enforced in slices. Then only reads that wait for the end of one teach what the disk costs.
  bool has_pauses() const { return pauses_; }
  // The time of a read that waits for no other one; 0: not known. From a server it is the quickest of all: the first
  // ones, which alone wait for no other, open connections.
  uint64_t round_trip_us() const { return far_ ? quickest_us_ : round_trip_.us(); }
  // The number of windows that it has learned from.
  int windows() const { return windows_; }

 private:
  // The line has two unknowns, so two windows fit it without an error, whatever they say. Four are 32 reads.
  static constexpr int kWindowsToKnow = 4;
  // A window ends after these reads and this time: shorter ones say more of the timer than of the disk.
  // Longer ones say it with less noise, when there is time for that. Where the times of reads deviate by a half, the
  // mean of 8 does so by 18 %, of 16 by 13 %. A thread that wakes 1 ms late is 5 % of 20 ms.
  static constexpr uint64_t kWindowReads = 8;
  static constexpr uint64_t kLaterWindowReads = 16;
  static constexpr uint64_t kWindowUs = 20'000;
  // Requests to a server end in bursts, one a round trip. A window of one burst has more than the line gives, one of
  // four a quarter too much at most.
  static constexpr uint64_t kWindowRoundTrips = 4;
  // Where reads take longer than kSlowReadUs, limits that are enforced in steps of a tenth of a second are the usual
  // reason. A window of one step has half of the reads, or twice as many, that the limit allows: four steps are enough.
  static constexpr uint64_t kSlowWindowUs = 400'000;
  // The first are of one step, so that something is soon known: eight steps are 0.8 s.
  static constexpr int kFirstWindows = 8;
  // No read has ended for so long, though some were under way. That is longer than a read of a MB takes on any disk
  // that seeks (17 ms: 7 ms for the seek, 10 ms at 100 MB/s). And it is a quarter of a slice of 100 ms.
  // Reads of a disk that is far away may come in bursts, one a round trip: there, twice that.
  static constexpr uint64_t kPauseUs = 25'000;
  static constexpr uint64_t kPauseRoundTrips = 2;
  // Two pauses within this time are not a busy machine's, but a limit's: three slices. Without another for so long, ten
  // slices, it was one.
  static constexpr uint64_t kPausesUs = 300'000;
  static constexpr uint64_t kNoPausesUs = 1'000'000;
  // What a window counts for after the next one. Half is forgotten after 69 windows: 1.4 s of a quick disk (kWindowUs),
  // 28 s of a slow one (kSlowWindowUs).
  static constexpr double kForget = 0.99;

  void SeePause(uint64_t now_us);
  void CloseWindow(uint64_t now_us);
  void BeginWindow(uint64_t now_us);
  void Fit();
  void Compare(double reads, double bytes, double us);

  bool far_ = false;
  RoundTrip round_trip_;
  uint64_t quickest_us_ = 0;
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

  double read_us_ = 30;
  double byte_us_ = 0.001;

  LimitFit limit_fit_;
  bool limits_ = false;
  // Squares of the relative errors of predicted times, older ones counting less.
  double line_error_ = 0;
  double limit_error_ = 0;
};

}  // namespace augur
