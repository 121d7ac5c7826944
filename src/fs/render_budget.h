// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// RenderBudget is the memory in which files of views are rendered: how much of it jobs have taken, and whether there is
// room for one more. Not synchronized.
//
// Jobs for readers have half of it. If there is one such job, it may have all that jobs ahead do not have. Jobs ahead
// have a quarter, or half if there is one. So jobs ahead never take a reader's half, and the quarter that is left keeps
// files until they are read.
class RenderBudget {
 public:
  explicit RenderBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  uint64_t taken_bytes() const { return taken_bytes_; }
  // The most that one job ahead may take.
  uint64_t ahead_bytes_max() const { return bytes_max_ / kAheadAloneShare; }
  // Whether there is room for `bytes` bytes more, of a job for a reader or of one `ahead`.
  bool Fits(uint64_t bytes, bool ahead) const {
    if (taken_bytes_ + bytes > bytes_max_) return false;
    if (ahead) {
      return taken_ahead_bytes_ + bytes <= bytes_max_ / kAheadShare ||
             (taken_ahead_bytes_ == 0 && bytes <= ahead_bytes_max());
    }
    const uint64_t taken = taken_bytes_ - taken_ahead_bytes_;
    return taken == 0 || taken + bytes <= bytes_max_ / kDemandShare;
  }
  void Take(uint64_t bytes, bool ahead) {
    taken_bytes_ += bytes;
    if (ahead) taken_ahead_bytes_ += bytes;
  }
  // REQUIRES: they were taken.
  void GiveBack(uint64_t bytes, bool ahead) {
    taken_bytes_ -= bytes;
    if (ahead) taken_ahead_bytes_ -= bytes;
  }

 private:
  static constexpr uint64_t kDemandShare = 2;
  static constexpr uint64_t kAheadShare = 4;
  static constexpr uint64_t kAheadAloneShare = 2;

  const uint64_t bytes_max_;
  uint64_t taken_bytes_ = 0;
  uint64_t taken_ahead_bytes_ = 0;  // of them
};

}  // namespace augur
