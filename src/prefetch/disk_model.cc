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

}  // namespace

void DiskModel::Begin(uint64_t now_us) {
  if (reads_under_way_++ == 0) Spare(now_us);
}

void DiskModel::Spare(uint64_t now_us) {
  window_begin_us_ = now_us;
  window_reads_ = 0;
  window_bytes_ = 0;
}

void DiskModel::End(uint64_t now_us, uint64_t bytes) {
  AUGUR_CHECK(reads_under_way_ > 0);
  --reads_under_way_;
  ++window_reads_;
  window_bytes_ += bytes;
  if (window_reads_ >= kWindowReads && now_us - window_begin_us_ >= kWindowUs) CloseWindow(now_us);
}

void DiskModel::Withdraw() {
  AUGUR_CHECK(reads_under_way_ > 0);
  --reads_under_way_;
}

void DiskModel::CloseWindow(uint64_t now_us) {
  const auto reads = static_cast<double>(window_reads_);
  const double megabytes = static_cast<double>(window_bytes_) / kMegabyte;
  const auto time = static_cast<double>(now_us - window_begin_us_);
  // Relative errors count, not those of the longest window. And a window that took longer than the disk is known to
  // need was likely kept waiting by something else (no processor was free, others used the disk): what the disk can do
  // is the lower edge of what is seen. If it has become slower for good, that is learned in twice as many windows.
  const double expected = read_us_ * reads + byte_us_ * kMegabyte * megabytes;
  const double weight = (known() && time > kSlowWindow * expected ? kSlowWeight : 1) / (time * time);
  for (double* sum : {&rr_, &rb_, &bb_, &rt_, &bt_}) *sum *= kForget;
  rr_ += weight * reads * reads;
  rb_ += weight * reads * megabytes;
  bb_ += weight * megabytes * megabytes;
  rt_ += weight * reads * time;
  bt_ += weight * megabytes * time;
  ++windows_;
  Spare(now_us);
  Fit();
}

void DiskModel::Fit() {
  // Windows of reads that all have one size lie on a line through the origin and cannot tell reads from bytes. A little
  // of the last answer is mixed in as if it had been seen, so that what is known stays until something else is.
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

uint64_t DiskModel::free_gap_bytes() const { return static_cast<uint64_t>(read_us_ / byte_us_); }

}  // namespace augur
