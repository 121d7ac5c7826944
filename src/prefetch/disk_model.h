// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// DiskModel learns what a read costs on this disk: so much for each read, and so much for each byte. Their quotient
// says how many bytes may be read for nothing rather than begin another read. Times are handed in; not synchronized.
//
// While the disk is kept busy, time goes by at `read_us` * reads + `byte_us` * bytes. That is a line through windows of
// some reads each, found by least squares; older windows count less and less, because a disk is shared and its speed
// changes. Where a limit is on the number of reads and another on the bytes (a cloud disk, a cgroup), whichever binds
// rules the window, and the line is the tangent to where we are.
class DiskModel {
 public:
  // A read has begun or ended. Time counts while at least one is under way.
  void Begin(uint64_t now_us);
  void End(uint64_t now_us, uint64_t bytes);
  // The read that was begun last was not begun after all.
  void Withdraw();
  // The disk could have done more than it was asked for: nothing is learned from the time around now.
  void Spare(uint64_t now_us);

  // Microseconds for one more read, and for one more byte.
  double read_us() const { return read_us_; }
  double byte_us() const { return byte_us_; }
  // As many bytes as are read in the time that another read costs.
  uint64_t free_gap_bytes() const;
  // Bytes a second when they are read in large pieces.
  double bytes_per_second() const { return 1e6 / byte_us_; }
  bool known() const { return windows_ >= kWindowsToKnow; }

 private:
  static constexpr int kWindowsToKnow = 4;
  // A window ends after so many reads and so much time: shorter ones say more of the timer than of the disk.
  static constexpr uint64_t kWindowReads = 8;
  static constexpr uint64_t kWindowUs = 20'000;
  static constexpr double kForget = 0.99;  // what a window counts for after the next one

  void CloseWindow(uint64_t now_us);
  void Fit();

  uint64_t reads_under_way_ = 0;
  uint64_t window_begin_us_ = 0;
  uint64_t window_reads_ = 0;
  uint64_t window_bytes_ = 0;
  int windows_ = 0;

  // Sums over windows of products of reads, bytes (in MB, so that the numbers are of a size) and time.
  double rr_ = 0, rb_ = 0, bb_ = 0, rt_ = 0, bt_ = 0;

  // Until it is known: a cheap SSD, on which neighbours are joined but no gap is worth reading.
  double read_us_ = 30;
  double byte_us_ = 0.001;
};

}  // namespace augur
