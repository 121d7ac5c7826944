// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "diagnosis/run_recording.h"
#include "diagnosis/run_window.h"

namespace augur {

// An epoch with the samples that are about it.
struct ReportedEpoch {
  EpochSpan span;
  size_t first = 0;  // of the samples
  size_t last = 0;   // the last one of it, which is the first one of the next
  double seconds = 0;
};

// ReportedEpochs is a recording by its epochs: which samples are about which, and what the axes of all have in common.
// There is one epoch at least; where there are more than 50, the last ones. Constant after construction. REQUIRES: the
// recording outlives it, and has two samples at least.
class ReportedEpochs {
 public:
  explicit ReportedEpochs(const RunRecording& recording);

  const RunRecording& recording() const { return recording_; }
  const std::vector<ReportedEpoch>& all() const { return epochs_; }
  // Whether opens were seen; else it is not known where an epoch ends, and there is one.
  bool sees_opens() const { return sees_opens_; }
  double seconds_max() const { return seconds_max_; }  // of all epochs; not zero
  size_t files_max() const;                            // likewise

  // What happened between two samples, and when one of them was taken.
  RunWindow Window(size_t from, size_t to) const { return {recording_.samples[from], recording_.samples[to]}; }
  uint64_t TimeOf(size_t sample) const { return recording_.samples[sample].time_us; }
  // Seconds from the epoch's first access on.
  static double SecondsIn(const ReportedEpoch& epoch, uint64_t time_us);

  // Calls with each window of two neighbouring samples of the epoch, or of more where there are many.
  void ForEachWindow(const ReportedEpoch& epoch,
                     const std::function<void(const RunWindow&, double from, double to)>& call) const;
  // The most that a value reaches in all epochs; not zero.
  double Most(const std::function<double(const RunWindow&)>& value) const;

 private:
  size_t SampleAt(uint64_t time_us) const;

  const RunRecording& recording_;
  const bool sees_opens_;
  std::vector<ReportedEpoch> epochs_;
  double seconds_max_ = 0.001;
};

}  // namespace augur
