// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/reported_epochs.h"

#include <algorithm>

namespace augur {
namespace {

constexpr double kUs = 1e6;
// More bars are narrower than a line is wide, on a phone.
constexpr size_t kBarsMax = 100;
constexpr size_t kEpochsMax = 50;

}  // namespace

ReportedEpochs::ReportedEpochs(const RunRecording& recording)
    : recording_(recording), sees_opens_(SeesOpens(recording)) {
  std::vector<EpochSpan> spans = EpochsOf(recording_);
  if (spans.empty()) spans.push_back({.begin_us = TimeOf(0), .end_us = TimeOf(recording_.samples.size() - 1)});
  if (spans.size() > kEpochsMax) spans.erase(spans.begin(), spans.end() - kEpochsMax);
  for (size_t i = 0; i < spans.size(); ++i) {
    ReportedEpoch epoch = {.span = spans[i]};
    // What the daemon did before the first access of all, in the same interval, is of the first epoch.
    epoch.first = SampleAt(spans[i].begin_us);
    if (i == 0 && epoch.first > 0) --epoch.first;
    epoch.last = i + 1 < spans.size() ? SampleAt(spans[i + 1].begin_us) : SampleAt(spans[i].end_us);
    epoch.last = std::max(epoch.last, epoch.first);
    epoch.seconds = std::max(static_cast<double>(spans[i].end_us - spans[i].begin_us) / kUs, 0.001);
    seconds_max_ = std::max(seconds_max_, epoch.seconds);
    epochs_.push_back(epoch);
  }
}

size_t ReportedEpochs::files_max() const {
  size_t most = 1;
  for (const ReportedEpoch& epoch : epochs_) most = std::max(most, epoch.span.files);
  return most;
}

// The first sample at or after a time; the last one if there is none.
size_t ReportedEpochs::SampleAt(uint64_t time_us) const {
  const auto place = std::ranges::lower_bound(recording_.samples, time_us, {}, &RunSample::time_us);
  const auto number = static_cast<size_t>(place - recording_.samples.begin());
  return std::min(number, recording_.samples.size() - 1);
}

double ReportedEpochs::SecondsIn(const ReportedEpoch& epoch, uint64_t time_us) {
  return time_us > epoch.span.begin_us ? static_cast<double>(time_us - epoch.span.begin_us) / kUs : 0;
}

void ReportedEpochs::ForEachWindow(const ReportedEpoch& epoch,
                                   const std::function<void(const RunWindow&, double from, double to)>& call) const {
  const size_t step = std::max<size_t>((epoch.last - epoch.first) / kBarsMax, 1);
  for (size_t from = epoch.first; from < epoch.last; from += step) {
    const size_t to = std::min(from + step, epoch.last);
    call(Window(from, to), SecondsIn(epoch, TimeOf(from)), SecondsIn(epoch, TimeOf(to)));
  }
}

double ReportedEpochs::Most(const std::function<double(const RunWindow&)>& value) const {
  double most = 0;
  for (const ReportedEpoch& epoch : epochs_) {
    ForEachWindow(epoch, [&](const RunWindow& window, double, double) { most = std::max(most, value(window)); });
  }
  return most > 0 ? most : 1;
}

}  // namespace augur
