// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/statistics.h"
#include "diagnosis/reported_epochs.h"
#include "diagnosis/svg_chart.h"

namespace augur {

// EpochPictures draws the pictures of an epoch in the page of a run, as HTML, each with its legend. All epochs have the
// same axes, so that they can be compared. Pure. REQUIRES: the epochs outlive it.
class EpochPictures {
 public:
  explicit EpochPictures(const ReportedEpochs& epochs);

  // All of them, one below the other.
  std::string Of(const ReportedEpoch& epoch) const;

 private:
  std::string Places(const ReportedEpoch& epoch) const;
  std::string Progress(const ReportedEpoch& epoch) const;
  std::string Sources(const ReportedEpoch& epoch) const;
  std::string Waits(const ReportedEpoch& epoch) const;
  std::string Bandwidth(const ReportedEpoch& epoch) const;
  std::string Memory(const ReportedEpoch& epoch) const;
  // The chart with the moments of the epoch, and the legend, which is HTML, below it.
  std::string Finish(const ReportedEpoch& epoch, SvgChart& chart, std::string_view legend) const;
  const StatisticsSnapshot& LastNumbers(const ReportedEpoch& epoch) const {
    return epochs_.recording().samples[epoch.last].reading.numbers;
  }

  const ReportedEpochs& epochs_;
  uint32_t file_max_ = 0;
};

}  // namespace augur
