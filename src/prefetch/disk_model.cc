// SPDX-License-Identifier: Apache-2.0
#include "prefetch/disk_model.h"

#include <algorithm>

#include "base/check.h"

namespace augur {
namespace {

constexpr double kMegabyte = 1e6;
// No disk that we have heard of is beyond these: 50 GB/s, and one byte a microsecond.
constexpr double kByteUsMin = 0.00002;
constexpr double kByteUsMax = 1;
// A window that took so many times as long as expected counts for so much.
constexpr double kSlowWindow = 1.25;
constexpr double kSlowWeight = 0.5;
// What a window's error counts for after the next one, and a window that is wrong by more than this counts as this
// much: somebody else used the disk, and neither opinion is to blame. Half is forgotten after 23 windows: half a second
// of a quick disk (kWindowUs), nine seconds of a slow one (kSlowWindowUs).
constexpr double kErrorForget = 0.97;
// A prediction of next to nothing is wrong by 1 (all of the time, divided by it), so one of far too much is no more.
constexpr double kErrorMax = 1;
// The other opinion is believed when the squares of its errors are so many times less: not to and fro for nothing. That
// is 1.22 times in the errors.
constexpr double kBetter = 1.5;
// A window that is so many times as quick as a limit was thought to allow has shown something new.
constexpr double kNotTried = 1.25;
// What a gap may be at most, beyond what reads were seen to take along for nothing. So regions grow (at a gap of twice
// their length) where reads of 1.25 times their length were seen to cost no more.
constexpr double kBeyondShown = 1.6;
// Fewer windows than this may be of nothing else than the first burst: 16 of kWindowUs are about as long as kPausesUs,
// in which a limit shows itself.
constexpr int kWindowsOfBursts = 16;
// What a byte more costs the machine at least, whatever the disk does: 2.1 s of the processor for a GB that is read and
// pushed, 1.8 of the daemon and 0.3 of its helper (bench/RESULTS.md).
constexpr double kMachineByteUs = 0.002;
// A request costs both ends 0.1 to 0.2 ms of the processor, and its headers: 60 KB at 200 MB/s are worth it.
constexpr double kFarReadUs = 300;
// 100 MB/s, a line of 1 Gbit/s. It counts for the first window only, and there kFarUnderWayBytes are under way anyway.
constexpr double kFarByteUs = 0.01;

}  // namespace

DiskModel DiskModel::Far() {
  DiskModel model;
  model.far_ = true;
  model.read_us_ = kFarReadUs;
  model.byte_us_ = kFarByteUs;
  return model;
}

void DiskModel::Begin(uint64_t now_us) {
  round_trip_.Begin(now_us, reads_under_way_);
  if (reads_under_way_++ == 0) Spare(now_us);
}

void DiskModel::Spare(uint64_t now_us) {
  last_end_us_ = now_us;
  aligned_ = false;
  BeginWindow(now_us);
}

void DiskModel::BeginWindow(uint64_t now_us) {
  window_begin_us_ = now_us;
  window_reads_ = 0;
  window_bytes_ = 0;
}

void DiskModel::End(uint64_t now_us, uint64_t bytes) {
  AUGUR_CHECK(reads_under_way_ > 0);
  --reads_under_way_;
  round_trip_.End(now_us);
  if (now_us - last_end_us_ >= std::max(kPauseUs, kPauseRoundTrips * round_trip_us())) SeePause(now_us);
  last_end_us_ = now_us;
  ++window_reads_;
  window_bytes_ += bytes;
  if (pauses_) {
    if (now_us - last_pause_us_ < kNoPausesUs) return;
    pauses_ = false;
  }
  const uint64_t reads = known() ? kLaterWindowReads : kWindowReads;
  const uint64_t passed_us = now_us - window_begin_us_;
  // By what is known too: a window may begin just before a burst, and would end in it.
  const auto slow_us = static_cast<double>(window_reads_ * kSlowReadUs);
  const bool slow = windows_ >= kFirstWindows &&
                    (static_cast<double>(passed_us) > slow_us || CostUs(window_reads_, window_bytes_) > slow_us);
  const uint64_t trips_us = far_ ? kWindowRoundTrips * round_trip_us() : 0;
  const uint64_t enough_us = std::max(slow ? kSlowWindowUs : kWindowUs, trips_us);
  if (window_reads_ >= reads && passed_us >= enough_us) CloseWindow(now_us);
}

// The read that ends now is the first of those that are let through: it belongs to the time that begins.
void DiskModel::SeePause(uint64_t now_us) {
  const bool again = last_pause_us_ != 0 && now_us - last_pause_us_ < kPausesUs;
  last_pause_us_ = now_us;
  if (!pauses_) {
    pauses_ = again;
    // What was learned until now are bursts without the pauses between them, and pauses without their bursts.
    if (again && windows_ < kWindowsOfBursts) {
      windows_ = 0;
      rr_ = rb_ = bb_ = rt_ = bt_ = 0;
      limit_fit_ = {};
    }
    if (!again) return;
  }
  const uint64_t enough_us = windows_ < kFirstWindows ? kWindowUs : kSlowWindowUs;
  const bool enough = window_reads_ >= kWindowReads && now_us - window_begin_us_ >= enough_us;
  if (!aligned_) {
    BeginWindow(now_us);
  } else if (enough) {
    CloseWindow(now_us);
  }
  aligned_ = true;
}

void DiskModel::Took(uint64_t us) { quickest_us_ = quickest_us_ == 0 ? us : std::min(quickest_us_, us); }

void DiskModel::Withdraw() {
  AUGUR_CHECK(reads_under_way_ > 0);
  round_trip_.Withdraw();
  --reads_under_way_;
}

void DiskModel::CloseWindow(uint64_t now_us) {
  const auto reads = static_cast<double>(window_reads_);
  const double megabytes = static_cast<double>(window_bytes_) / kMegabyte;
  const auto time = static_cast<double>(now_us - window_begin_us_);
  // Relative errors count, not those of the longest window. And a window that took longer than the disk is known to
  // need was likely kept waiting by something else (no processor was free, others used the disk): what the disk can do
  // is the lower edge of what is seen. If it has become slower for good, that is learned in twice as many windows.
  Compare(reads, static_cast<double>(window_bytes_), time);
  const double expected = read_us_ * reads + byte_us_ * kMegabyte * megabytes;
  const double weight = (known() && time > kSlowWindow * expected ? kSlowWeight : 1) / (time * time);
  for (double* sum : {&rr_, &rb_, &bb_, &rt_, &bt_}) *sum *= kForget;
  rr_ += weight * reads * reads;
  rb_ += weight * reads * megabytes;
  bb_ += weight * megabytes * megabytes;
  rt_ += weight * reads * time;
  bt_ += weight * megabytes * time;
  ++windows_;
  BeginWindow(now_us);
  Fit();
}

// How well each opinion foretells this window, before it learns from it.
void DiskModel::Compare(double reads, double bytes, double us) {
  const auto error = [us](double predicted) {
    const double relative = std::min((predicted - us) / us, kErrorMax);
    return relative * relative;
  };
  if (known() && !far_) {
    line_error_ = kErrorForget * line_error_ + error(read_us_ * reads + byte_us_ * bytes);
    // What is quicker than a limit was thought to allow was not tried before, and is no error.
    const double predicted = limit_fit_.CostUs(reads, bytes);
    limit_error_ = kErrorForget * limit_error_ + (predicted > kNotTried * us ? 0 : error(predicted));
    const bool line_better = line_error_ * kBetter < limit_error_;
    const bool limits_better = limit_fit_.known() && limit_error_ * kBetter < line_error_;
    if (limits_ ? line_better : limits_better) limits_ = !limits_;
  }
  limit_fit_.Add(reads, bytes, us);
}

double DiskModel::CostUs(uint64_t reads, uint64_t bytes) const {
  const auto count = static_cast<double>(reads);
  const auto size = static_cast<double>(bytes);
  return limits_ ? limit_fit_.CostUs(count, size) : read_us_ * count + byte_us_ * size;
}

void DiskModel::Fit() {
  if (far_) {
    byte_us_ = std::clamp(std::max(0.0, bt_ - read_us_ * rb_) / bb_ / kMegabyte, kByteUsMin, kByteUsMax);
    return;
  }
  // Windows of reads that all have one size lie on a line through the origin and cannot tell reads from bytes. A little
  // of the last answer is mixed in as if it had been seen, so that what is known stays until something else is: two
  // windows of the hundred that the sums amount to (kForget).
  constexpr double kTrust = 0.02;
  const double mean_reads = rr_ * kTrust;
  const double mean_bytes = bb_ * kTrust;
  const double rr = rr_ + mean_reads;
  const double bb = bb_ + mean_bytes;
  const double rt = rt_ + mean_reads * read_us_;
  const double bt = bt_ + mean_bytes * byte_us_ * kMegabyte;
  const double determinant = rr * bb - rb_ * rb_;
  if (determinant <= 0) return;
  double read = (rt * bb - bt * rb_) / determinant;
  double megabyte = (bt * rr - rt * rb_) / determinant;
  if (read < 0) {
    read = 0;
    megabyte = bt / bb;
  } else if (megabyte < 0) {
    megabyte = 0;
    read = rt / rr;
  }
  read_us_ = read;
  byte_us_ = std::clamp(megabyte / kMegabyte, kByteUsMin, kByteUsMax);
}

uint64_t DiskModel::free_gap_bytes() const { return static_cast<uint64_t>(read_us() / byte_us()); }

uint64_t DiskModel::worth_gap_bytes() const {
  return std::min(free_gap_bytes(), static_cast<uint64_t>(read_us() / kMachineByteUs));
}

uint64_t DiskModel::tried_gap_bytes() const {
  return limit_fit_.byte_us() > 0 ? static_cast<uint64_t>(limit_fit_.read_us() / limit_fit_.byte_us()) : 0;
}

uint64_t DiskModel::shown_gap_bytes() const {
  return std::min(free_gap_bytes(), static_cast<uint64_t>(kBeyondShown * static_cast<double>(tried_gap_bytes())));
}

}  // namespace augur
