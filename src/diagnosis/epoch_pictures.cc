// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/epoch_pictures.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/finding_text.h"

namespace augur {
namespace {

using Fill = SvgChart::Fill;

// More marks in one picture are a grey area.
constexpr size_t kMarksMax = 1500;

}  // namespace

EpochPictures::EpochPictures(const ReportedEpochs& epochs) : epochs_(epochs) {
  for (const SeenAccess& access : epochs_.recording().accesses) file_max_ = std::max(file_max_, access.file);
}

std::string EpochPictures::Of(const ReportedEpoch& epoch) const {
  return Places(epoch) + Progress(epoch) + Sources(epoch) + Waits(epoch) + Bandwidth(epoch) + Memory(epoch);
}

std::string EpochPictures::Finish(const ReportedEpoch& epoch, SvgChart& chart, std::string_view legend) const {
  bool found = false;
  for (size_t i = epoch.first; i < epoch.last; ++i) {
    const RunWindow window = epochs_.Window(i, i + 1);
    const double seconds = ReportedEpochs::SecondsIn(epoch, epochs_.TimeOf(i + 1));
    if (!found && window.Delta(Stat::kOrdersFound) + window.Delta(Stat::kOrdersAccepted) > 0) {
      chart.AddMoment(seconds, "order found");
      found = true;
    }
    if (window.Delta(Stat::kOrdersLost) > 0) {
      chart.AddMoment(seconds, "order lost");
      break;
    }
  }
  std::string html = chart.Render();
  if (!legend.empty()) html += "<p class=\"legend\">" + std::string(legend) + "</p>\n";
  return html;
}

std::string EpochPictures::Places(const ReportedEpoch& epoch) const {
  SvgChart chart("Which file was read when", epochs_.seconds_max(), static_cast<double>(file_max_) + 1,
                 "last file in path order");
  std::vector<ChartPoint> opens;
  std::vector<ChartPoint> reads;
  const size_t step = (epoch.span.last - epoch.span.first) / kMarksMax + 1;
  for (size_t i = epoch.span.first; i < epoch.span.last; i += step) {
    const SeenAccess& access = epochs_.recording().accesses[i];
    (access.read ? reads : opens)
        .push_back({ReportedEpochs::SecondsIn(epoch, access.time_us), static_cast<double>(access.file) + 0.5});
  }
  chart.AddDots(opens);
  chart.AddCrosses(reads);
  return Finish(epoch, chart, "dot: opened; cross: READ that the page cache could not serve");
}

std::string EpochPictures::Progress(const ReportedEpoch& epoch) const {
  const size_t most = epochs_.files_max();
  SvgChart chart("Place in the order: files read so far", epochs_.seconds_max(), static_cast<double>(most),
                 FormatCount(most) + (most == 1 ? " file" : " files"));
  std::vector<ChartPoint> points = {{0, 0}};
  // The first access of each file is its place.
  std::unordered_set<uint32_t> files;
  const size_t step = (epoch.span.last - epoch.span.first) / (kMarksMax / 4) + 1;
  for (size_t i = epoch.span.first; i < epoch.span.last; ++i) {
    const SeenAccess& access = epochs_.recording().accesses[i];
    files.insert(access.file);
    if ((i - epoch.span.first) % step != 0 && i + 1 != epoch.span.last) continue;
    points.push_back({ReportedEpochs::SecondsIn(epoch, access.time_us), static_cast<double>(files.size())});
  }
  chart.AddLine(points, SvgChart::Stroke::kSolid);
  return Finish(epoch, chart, {});
}

std::string EpochPictures::Sources(const ReportedEpoch& epoch) const {
  const auto memory = [](const RunWindow& window) {
    return window.PerSecond(Stat::kRecordCacheHits) + window.PerSecond(Stat::kRetainedCacheHits) +
           window.PerSecond(Stat::kRenderedHits) + window.PerSecond(Stat::kRecordCacheJoins);
  };
  const auto misses = [](const RunWindow& window) { return window.PerSecond(Stat::kMisses); };
  const auto cached = [](const RunWindow& window) {
    const uint64_t files = window.files();
    const uint64_t reads = window.Delta(Stat::kReads);
    return static_cast<double>(files > reads ? files - reads : 0) / window.seconds();
  };
  const double most =
      epochs_.Most([&](const RunWindow& window) { return cached(window) + memory(window) + misses(window); });
  SvgChart chart("Where files came from", epochs_.seconds_max(), most, RateText(most) + "/s");
  epochs_.ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
    const double from_pages = cached(window);
    const double held = from_pages + memory(window);
    chart.AddBar(from, to, 0, from_pages, Fill::kFull);
    chart.AddBar(from, to, from_pages, held, Fill::kDots);
    chart.AddBar(from, to, held, held + misses(window), Fill::kStripes);
  });
  return Finish(epoch, chart,
                SvgChart::Sample(Fill::kFull) + " page cache; " + SvgChart::Sample(Fill::kDots) +
                    " memory of the daemon; " + SvgChart::Sample(Fill::kStripes) + " misses: disk or server");
}

std::string EpochPictures::Waits(const ReportedEpoch& epoch) const {
  const auto waiting = [](const RunWindow& window) { return window.wait_seconds() / window.seconds(); };
  const double most = std::max(epochs_.Most(waiting), 0.01);
  SvgChart chart("Readers that wait for the mount", epochs_.seconds_max(), most, FixedText(most) + " at a time");
  std::vector<ChartPoint> stalls;
  epochs_.ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
    chart.AddBar(from, to, 0, waiting(window), Fill::kStripes);
    if (window.Delta(Stat::kStalls) > 0) stalls.push_back({(from + to) / 2, most * 0.95});
  });
  chart.AddCrosses(stalls);
  return Finish(epoch, chart,
                SvgChart::Sample(Fill::kStripes) + " waiting; cross: a stall, a file that was due and not there");
}

std::string EpochPictures::Bandwidth(const ReportedEpoch& epoch) const {
  const auto rate = [](const RunWindow& window) { return window.PerSecond(Stat::kDiskBytes); };
  const double most = epochs_.Most(rate);
  SvgChart chart("Bandwidth of the disk or server", epochs_.seconds_max(), most, BytesRateText(most));
  epochs_.ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
    chart.AddBar(from, to, 0, rate(window), Fill::kFull);
  });
  const auto can = static_cast<double>(LastNumbers(epoch)[Gauge::kDiskBytesPerSecond]);
  if (can > 0 && can <= most) chart.AddLevel(can, "measured as possible: " + BytesRateText(can));
  return Finish(epoch, chart, can > most ? "possible: " + BytesRateText(can) : std::string());
}

std::string EpochPictures::Memory(const ReportedEpoch& epoch) const {
  const auto own = [](const RunWindow& window) { return static_cast<double>(window.Now(Gauge::kMemoryBytes)); };
  const auto all = [&](const RunWindow& window) {
    return own(window) + static_cast<double>(window.Now(Gauge::kPushWindowBytes));
  };
  const double most = epochs_.Most(all);
  SvgChart chart("Memory", epochs_.seconds_max(), most * 1.1, FormatSize(static_cast<uint64_t>(most * 1.1)));
  std::vector<ChartPoint> daemon;
  std::vector<ChartPoint> both;
  epochs_.ForEachWindow(epoch, [&](const RunWindow& window, double, double to) {
    daemon.push_back({to, own(window)});
    both.push_back({to, all(window)});
  });
  chart.AddLine(daemon, SvgChart::Stroke::kDashed);
  chart.AddLine(both, SvgChart::Stroke::kSolid);
  const uint64_t limit = LastNumbers(epoch)[Gauge::kMemoryBytesMax];
  return Finish(
      epoch, chart,
      "dashed: the daemon's; solid: with files that were pushed and not read yet; limit: " + FormatSize(limit));
}

}  // namespace augur
