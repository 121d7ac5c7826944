// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/svg_chart.h"

namespace augur {
namespace {

constexpr double kUs = 1e6;
// More bars are narrower than a line is wide, on a phone.
constexpr size_t kBarsMax = 100;
// More marks in one picture are a grey area.
constexpr size_t kMarksMax = 1500;
constexpr size_t kEpochsMax = 50;

constexpr std::string_view kStyle =
    "body{font:16px/1.4 sans-serif;margin:1rem auto;padding:0 .6rem;max-width:1200px;color:#111;background:#fff}"
    "h1{font-size:1.4rem}h2{font-size:1.15rem;margin:1.6rem 0 .3rem}h3{font-size:1rem;margin:.2rem 0}"
    "p,dd{overflow-wrap:anywhere}dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem .8rem}dd{margin:0}"
    "dt{font-weight:bold}table{border-collapse:collapse}td,th{padding:.15rem .5rem;border:1px solid #888;"
    "text-align:right}th:first-child,td:first-child,td.words{text-align:left}.wide{overflow-x:auto}"
    ".epochs{display:flex;flex-wrap:wrap;gap:1rem}article{flex:1 1 320px;max-width:560px;border:1px solid #888;"
    "padding:.5rem;box-sizing:border-box;min-width:0}article svg{display:block;width:100%;height:auto;margin:.4rem 0}"
    "svg text{font:11px sans-serif;fill:#111}svg text.name{font-weight:bold}.frame{fill:none;stroke:#555}"
    ".line{fill:none;stroke:#111;stroke-width:1.5}.level{stroke:#111;stroke-dasharray:8 3}"
    ".moment{stroke:#111;stroke-width:1.5}.dots{fill:none;stroke:#1b5e9b;stroke-width:2.4;stroke-linecap:round}"
    ".crosses{fill:none;stroke:#a03d00;stroke-width:1.2}.bar{stroke:#333;stroke-width:.4}"
    "td{white-space:nowrap}td:first-child,td.words{white-space:normal}"
    "@media(max-width:600px){body{padding:0 .3rem}td,th{padding:.1rem .15rem;font-size:.66rem}}"
    "article "
    "svg.sample{display:inline;width:16px;height:12px;margin:0;vertical-align:-1px}.swatch{stroke:#333}.legend{font-"
    "size:.85rem;margin:.2rem 0}";

struct NumberRow {
  std::string_view name;   // of stats.json
  std::string_view words;  // for people
  uint64_t value;
  bool bytes;
};

std::vector<NumberRow> NumberRows(const RunWindow& window) {
  std::vector<NumberRow> rows;
  const auto add = [&](Stat stat, std::string_view words, bool bytes = false) {
    rows.push_back({kStatDefinitions[static_cast<size_t>(stat)].name, words, window.Delta(stat), bytes});
  };
  add(Stat::kReads, "READs that the page cache could not serve");
  add(Stat::kReadBytes, "bytes of them", true);
  add(Stat::kRecordCacheHits, "blocks for them from buffers");
  add(Stat::kRetainedCacheHits, "blocks for them from the retained cache");
  add(Stat::kRenderedHits, "files of views for them from memory");
  add(Stat::kRecordCacheJoins, "blocks for them by a read under way");
  add(Stat::kMisses, "blocks for them from the disk or server");
  add(Stat::kStalls, "stalls: READs of files that were due and not there");
  add(Stat::kPushes, "files pushed into the page cache ahead of their use");
  add(Stat::kPushedBytes, "bytes of them", true);
  add(Stat::kDiskReads, "reads of the disk or server");
  add(Stat::kDiskBytes, "bytes of them", true);
  add(Stat::kWastedBytes, "bytes read ahead in vain", true);
  add(Stat::kImagesDecoded, "images decoded for views");
  add(Stat::kOrdersFound, "orders found");
  add(Stat::kOrdersLost, "orders lost");
  add(Stat::kReadFailures, "READs that failed");
  return rows;
}

std::string Cell(const std::string& text, std::string_view data_name = {}, const std::string& data_value = {}) {
  std::string cell = "<td";
  if (!data_name.empty()) {
    cell += " data-name=\"" + std::string(data_name) + "\" data-value=\"" + data_value + "\"";
  }
  return cell + ">" + HtmlText(text) + "</td>";
}

// An epoch with the samples that are about it.
struct ReportedEpoch {
  EpochSpan span;
  size_t first = 0;  // of the samples
  size_t last = 0;   // the last one of it, which is the first one of the next
  double seconds = 0;
};

class Report {
 public:
  Report(const RunRecording& recording, std::string when)
      : recording_(recording), when_(std::move(when)), sees_opens_(SeesOpens(recording)) {
    FindEpochs();
    for (const ReportedEpoch& epoch : epochs_) seconds_max_ = std::max(seconds_max_, epoch.seconds);
    for (const SeenAccess& access : recording_.accesses) file_max_ = std::max(file_max_, access.file);
  }

  std::string Render() {
    const RunWindow whole = Window(0, recording_.samples.size() - 1);
    out_ =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
        "<title>AugurFS " +
        HtmlText(whole.Fact("mountpoint")) + "</title><style>" + std::string(kStyle) + "</style></head><body>\n" +
        SvgChart::Patterns();
    AddHead(whole);
    AddNumbers(whole);
    AddEpochs();
    return out_ + "</body></html>\n";
  }

 private:
  using Value = std::function<double(const RunWindow&)>;

  uint64_t TimeOf(size_t sample) const { return recording_.samples[sample].time_us; }
  RunWindow Window(size_t from, size_t to) const { return {recording_.samples[from], recording_.samples[to]}; }

  // The first sample at or after a time; the last one if there is none.
  size_t SampleAt(uint64_t time_us) const {
    const auto place = std::ranges::lower_bound(recording_.samples, time_us, {}, &RunSample::time_us);
    const auto number = static_cast<size_t>(place - recording_.samples.begin());
    return std::min(number, recording_.samples.size() - 1);
  }

  void FindEpochs() {
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
      epochs_.push_back(epoch);
    }
  }

  void AddFact(std::string_view name, const std::string& text) {
    if (!text.empty()) out_ += "<dt>" + std::string(name) + "</dt><dd>" + HtmlText(text) + "</dd>\n";
  }

  void AddHead(const RunWindow& whole) {
    out_ += "<h1>A run on " + HtmlText(whole.Fact("mountpoint")) + "</h1>\n<dl>";
    AddFact("store", whole.Fact("store") + ", generation " + whole.Fact("generation"));
    AddFact("preset", whole.Fact("preset"));
    AddFact("watched", when_ + ", for " + TimeText(whole.seconds()) + "; " + FormatCount(recording_.accesses.size()) +
                           " accesses seen" +
                           (recording_.lost > 0 ? ", " + FormatCount(recording_.lost) + " more were too many" : ""));
    for (const OrderReport& job : whole.after().jobs) {
      const bool known = job.state == OrderReport::State::kKnown;
      const bool ended = job.state == OrderReport::State::kEnded;
      const std::string name = job.job == 0 ? "all jobs" : "job " + FormatCount(job.job);
      const std::string state =
          job.state == OrderReport::State::kNotSought ? "order not looked for: " : "order not known: ";
      AddFact(ended ? "ended job" : name,
              (known || ended ? "" : state) + job.text + "; " + FormatCount(job.files) + " files");
    }
    AddFact("memory", FormatSize(whole.Now(Gauge::kMemoryBytesMax)) + " (memory=)");
    out_ += "</dl>\n";
  }

  void AddNumbers(const RunWindow& whole) {
    const HistogramCounts waits = whole.Delta(Histogram::kReadWaitUs);
    out_ += "<h2>Numbers of the whole time</h2>\n<div class=\"wide\"><table><tr><th>what</th><th>number</th></tr>\n";
    for (const NumberRow& row : NumberRows(whole)) {
      if (row.value == 0 && row.name != "reads" && row.name != "misses" && row.name != "stalls") continue;
      out_ += "<tr><td>" + std::string(row.words) + "</td>" +
              Cell(row.bytes ? FormatSize(row.value) : FormatCount(row.value), row.name, std::to_string(row.value)) +
              "</tr>\n";
    }
    out_ += "<tr><td>time that readers waited, all together</td>" +
            Cell(TimeText(static_cast<double>(waits.sum) / kUs), "read_wait_us", std::to_string(waits.sum)) +
            "</tr>\n</table></div>\n";
  }

  void AddEpochs() {
    out_ +=
        "<h2>Epochs</h2>\n<div class=\"wide\"><table><tr><th>epoch</th><th>time</th><th>files seen</th>"
        "<th>READs</th><th>misses</th><th>stalls</th><th>waited</th><th>from disk</th></tr>\n";
    for (size_t i = 0; i < epochs_.size(); ++i) {
      const RunWindow window = Window(epochs_[i].first, epochs_[i].last);
      out_ += "<tr>" + Cell(sees_opens_ ? FormatCount(i + 1) : "all") + Cell(TimeText(epochs_[i].seconds)) +
              Cell(FormatCount(epochs_[i].span.files), "epoch_files", std::to_string(epochs_[i].span.files)) +
              Cell(FormatCount(window.Delta(Stat::kReads)), "epoch_reads", std::to_string(window.Delta(Stat::kReads))) +
              Cell(FormatCount(window.Delta(Stat::kMisses))) + Cell(FormatCount(window.Delta(Stat::kStalls))) +
              Cell(TimeText(static_cast<double>(window.Delta(Histogram::kReadWaitUs).sum) / kUs)) +
              Cell(FormatSize(window.Delta(Stat::kDiskBytes))) + "</tr>\n";
    }
    out_ += "</table></div>\n<p>" + HowEpochsAreTold() + "</p>\n<div class=\"epochs\">\n";
    for (size_t i = 0; i < epochs_.size(); ++i) AddEpoch(i);
    out_ += "</div>\n";
  }

  std::string HowEpochsAreTold() const {
    if (sees_opens_) {
      return "An epoch begins where files come again. A file that the page cache serves makes no READ, and is seen by "
             "its open. All epochs have the same time axis.";
    }
    const bool predicts = recording_.samples.back().predicts;
    if (predicts && recording_.accesses.empty()) return "No program read the mount meanwhile.";
    return std::string("The daemon saw no opens here, ") +
           (predicts ? "as the files are read from archives, or as inotify does not report opens. "
                     : "as the mount works out no orders (-o predict=off, or too little memory=). ") +
           "A file that the page cache serves makes no READ then, and is missing in these pictures. Where an epoch "
           "ends is not known, so the whole time is shown as one.";
  }

  void AddEpoch(size_t number) {
    const ReportedEpoch& epoch = epochs_[number];
    out_ += "<article><h3>" + (sees_opens_ ? "Epoch " + FormatCount(number + 1) : "The whole time") + "</h3>\n";
    AddPlaces(epoch);
    AddProgress(epoch);
    AddSources(epoch);
    AddWaits(epoch);
    AddBandwidth(epoch);
    AddMemory(epoch);
    out_ += "</article>\n";
  }

  // From the epoch's first access.
  double Seconds(const ReportedEpoch& epoch, uint64_t time_us) const {
    return time_us > epoch.span.begin_us ? static_cast<double>(time_us - epoch.span.begin_us) / kUs : 0;
  }

  // Calls with each window of two neighbouring samples of the epoch, or of more where there are many.
  void ForEachWindow(const ReportedEpoch& epoch,
                     const std::function<void(const RunWindow&, double from, double to)>& call) const {
    const size_t step = std::max<size_t>((epoch.last - epoch.first) / kBarsMax, 1);
    for (size_t from = epoch.first; from < epoch.last; from += step) {
      const size_t to = std::min(from + step, epoch.last);
      call(Window(from, to), Seconds(epoch, TimeOf(from)), Seconds(epoch, TimeOf(to)));
    }
  }

  // The most that a value reaches in all epochs: they share their axes.
  double Most(const Value& value) const {
    double most = 0;
    for (const ReportedEpoch& epoch : epochs_) {
      ForEachWindow(epoch, [&](const RunWindow& window, double, double) { most = std::max(most, value(window)); });
    }
    return most > 0 ? most : 1;
  }

  void AddMoments(const ReportedEpoch& epoch, SvgChart& chart) const {
    bool found = false;
    for (size_t i = epoch.first; i < epoch.last; ++i) {
      const RunWindow window = Window(i, i + 1);
      if (!found && window.Delta(Stat::kOrdersFound) + window.Delta(Stat::kOrdersAccepted) > 0) {
        chart.AddMoment(Seconds(epoch, TimeOf(i + 1)), "order found");
        found = true;
      }
      if (window.Delta(Stat::kOrdersLost) > 0) {
        chart.AddMoment(Seconds(epoch, TimeOf(i + 1)), "order lost");
        return;
      }
    }
  }

  void Show(const SvgChart& chart, std::string_view legend) {
    out_ += chart.Render();
    if (!legend.empty()) out_ += "<p class=\"legend\">" + std::string(legend) + "</p>\n";
  }

  void AddPlaces(const ReportedEpoch& epoch) {
    SvgChart chart("Which file was read when", seconds_max_, static_cast<double>(file_max_) + 1,
                   "last file in path order");
    std::vector<ChartPoint> opens;
    std::vector<ChartPoint> reads;
    const size_t step = (epoch.span.last - epoch.span.first) / kMarksMax + 1;
    for (size_t i = epoch.span.first; i < epoch.span.last; i += step) {
      const SeenAccess& access = recording_.accesses[i];
      (access.read ? reads : opens).push_back({Seconds(epoch, access.time_us), static_cast<double>(access.file) + 0.5});
    }
    chart.AddDots(opens);
    chart.AddCrosses(reads);
    AddMoments(epoch, chart);
    Show(chart, "dot: opened; cross: READ that the page cache could not serve");
  }

  void AddProgress(const ReportedEpoch& epoch) {
    size_t most = 1;
    for (const ReportedEpoch& one : epochs_) most = std::max(most, one.span.files);
    SvgChart chart("Place in the order: files read so far", seconds_max_, static_cast<double>(most),
                   FormatCount(most) + (most == 1 ? " file" : " files"));
    std::vector<ChartPoint> points = {{0, 0}};
    std::vector<uint32_t> files;
    const size_t count = epoch.span.last - epoch.span.first;
    files.reserve(count);
    for (size_t i = epoch.span.first; i < epoch.span.last; ++i) files.push_back(recording_.accesses[i].file);
    // The first access of each file is its place.
    std::vector<size_t> by_file(count);
    for (size_t i = 0; i < count; ++i) by_file[i] = i;
    std::ranges::stable_sort(by_file, {}, [&](size_t i) { return files[i]; });
    std::vector<bool> is_first(count, false);
    for (size_t i = 0; i < count; ++i) is_first[by_file[i]] = i == 0 || files[by_file[i]] != files[by_file[i - 1]];
    const size_t step = count / (kMarksMax / 4) + 1;
    double place = 0;
    for (size_t i = 0; i < count; ++i) {
      if (is_first[i]) ++place;
      if (i % step != 0 && i + 1 != count) continue;
      points.push_back({Seconds(epoch, recording_.accesses[epoch.span.first + i].time_us), place});
    }
    chart.AddLine(points, SvgChart::Stroke::kSolid);
    AddMoments(epoch, chart);
    Show(chart, {});
  }

  void AddSources(const ReportedEpoch& epoch) {
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
    const double most = Most([&](const RunWindow& window) { return cached(window) + memory(window) + misses(window); });
    SvgChart chart("Where files came from", seconds_max_, most, RateText(most) + "/s");
    ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
      const double from_pages = cached(window);
      const double held = from_pages + memory(window);
      chart.AddBar(from, to, 0, from_pages, SvgChart::Fill::kFull);
      chart.AddBar(from, to, from_pages, held, SvgChart::Fill::kDots);
      chart.AddBar(from, to, held, held + misses(window), SvgChart::Fill::kStripes);
    });
    AddMoments(epoch, chart);
    Show(chart, SvgChart::Sample(SvgChart::Fill::kFull) + " page cache; " + SvgChart::Sample(SvgChart::Fill::kDots) +
                    " memory of the daemon; " + SvgChart::Sample(SvgChart::Fill::kStripes) + " misses: disk or server");
  }

  void AddWaits(const ReportedEpoch& epoch) {
    const auto waiting = [](const RunWindow& window) {
      return static_cast<double>(window.Delta(Histogram::kReadWaitUs).sum) / kUs / window.seconds();
    };
    const double most = std::max(Most(waiting), 0.01);
    SvgChart chart("Readers that wait for the mount", seconds_max_, most, FixedText(most) + " at a time");
    std::vector<ChartPoint> stalls;
    ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
      chart.AddBar(from, to, 0, waiting(window), SvgChart::Fill::kStripes);
      if (window.Delta(Stat::kStalls) > 0) stalls.push_back({(from + to) / 2, most * 0.95});
    });
    chart.AddCrosses(stalls);
    AddMoments(epoch, chart);
    Show(chart,
         SvgChart::Sample(SvgChart::Fill::kStripes) + " waiting; cross: a stall, a file that was due and not there");
  }

  void AddBandwidth(const ReportedEpoch& epoch) {
    const auto rate = [](const RunWindow& window) { return window.PerSecond(Stat::kDiskBytes); };
    const double most = Most(rate);
    SvgChart chart("Bandwidth of the disk or server", seconds_max_, most, BytesRateText(most));
    ForEachWindow(epoch, [&](const RunWindow& window, double from, double to) {
      chart.AddBar(from, to, 0, rate(window), SvgChart::Fill::kFull);
    });
    const auto can = static_cast<double>(recording_.samples[epoch.last].reading.numbers[Gauge::kDiskBytesPerSecond]);
    if (can > 0 && can <= most) chart.AddLevel(can, "measured as possible: " + BytesRateText(can));
    AddMoments(epoch, chart);
    Show(chart, can > most ? "possible: " + BytesRateText(can) : std::string());
  }

  void AddMemory(const ReportedEpoch& epoch) {
    const auto own = [](const RunWindow& window) { return static_cast<double>(window.Now(Gauge::kMemoryBytes)); };
    const auto all = [&](const RunWindow& window) {
      return own(window) + static_cast<double>(window.Now(Gauge::kPushWindowBytes));
    };
    const double most = Most(all);
    SvgChart chart("Memory", seconds_max_, most * 1.1, FormatSize(static_cast<uint64_t>(most * 1.1)));
    std::vector<ChartPoint> daemon;
    std::vector<ChartPoint> both;
    ForEachWindow(epoch, [&](const RunWindow& window, double, double to) {
      daemon.push_back({to, own(window)});
      both.push_back({to, all(window)});
    });
    chart.AddLine(daemon, SvgChart::Stroke::kDashed);
    chart.AddLine(both, SvgChart::Stroke::kSolid);
    AddMoments(epoch, chart);
    const uint64_t limit = recording_.samples[epoch.last].reading.numbers[Gauge::kMemoryBytesMax];
    Show(chart,
         "dashed: the daemon's; solid: with files that were pushed and not read yet; limit: " + FormatSize(limit));
  }

  const RunRecording& recording_;
  const std::string when_;
  const bool sees_opens_;
  std::vector<ReportedEpoch> epochs_;
  double seconds_max_ = 0.001;
  uint32_t file_max_ = 0;
  std::string out_;
};

}  // namespace

std::string RenderRunReport(const RunRecording& recording, const std::string& when) {
  return Report(recording, when).Render();
}

}  // namespace augur
