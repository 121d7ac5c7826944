// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_report.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/epoch_pictures.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/reported_epochs.h"
#include "diagnosis/svg_chart.h"

namespace augur {
namespace {

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

class Report {
 public:
  Report(const RunRecording& recording, std::string when)
      : recording_(recording), when_(std::move(when)), epochs_(recording), pictures_(epochs_) {}

  std::string Render() {
    const RunWindow whole = epochs_.Window(0, recording_.samples.size() - 1);
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
    out_ += "<h2>Numbers of the whole time</h2>\n<div class=\"wide\"><table><tr><th>what</th><th>number</th></tr>\n";
    for (const NumberRow& row : NumberRows(whole)) {
      if (row.value == 0 && row.name != "reads" && row.name != "misses" && row.name != "stalls") continue;
      out_ += "<tr><td>" + std::string(row.words) + "</td>" +
              Cell(row.bytes ? FormatSize(row.value) : FormatCount(row.value), row.name, std::to_string(row.value)) +
              "</tr>\n";
    }
    out_ +=
        "<tr><td>time that readers waited, all together</td>" +
        Cell(TimeText(whole.wait_seconds()), "read_wait_us", std::to_string(whole.Delta(Histogram::kReadWaitUs).sum)) +
        "</tr>\n</table></div>\n";
  }

  void AddEpochs() {
    out_ +=
        "<h2>Epochs</h2>\n<div class=\"wide\"><table><tr><th>epoch</th><th>time</th><th>files seen</th>"
        "<th>READs</th><th>misses</th><th>stalls</th><th>waited</th><th>from disk</th></tr>\n";
    const std::vector<ReportedEpoch>& epochs = epochs_.all();
    for (size_t i = 0; i < epochs.size(); ++i) AddRow(i + 1, epochs[i]);
    out_ += "</table></div>\n<p>" + HowEpochsAreTold() + "</p>\n<div class=\"epochs\">\n";
    for (size_t i = 0; i < epochs.size(); ++i) {
      const std::string name = epochs_.sees_opens() ? "Epoch " + FormatCount(i + 1) : "The whole time";
      out_ += "<article><h3>" + name + "</h3>\n" + pictures_.Of(epochs[i]) + "</article>\n";
    }
    out_ += "</div>\n";
  }

  void AddRow(size_t number, const ReportedEpoch& epoch) {
    const RunWindow window = epochs_.Window(epoch.first, epoch.last);
    const uint64_t reads = window.Delta(Stat::kReads);
    out_ += "<tr>" + Cell(epochs_.sees_opens() ? FormatCount(number) : "all") + Cell(TimeText(epoch.seconds)) +
            Cell(FormatCount(epoch.span.files), "epoch_files", std::to_string(epoch.span.files)) +
            Cell(FormatCount(reads), "epoch_reads", std::to_string(reads)) +
            Cell(FormatCount(window.Delta(Stat::kMisses))) + Cell(FormatCount(window.Delta(Stat::kStalls))) +
            Cell(TimeText(window.wait_seconds())) + Cell(FormatSize(window.Delta(Stat::kDiskBytes))) + "</tr>\n";
  }

  std::string HowEpochsAreTold() const {
    if (epochs_.sees_opens()) {
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

  const RunRecording& recording_;
  const std::string when_;
  const ReportedEpochs epochs_;
  const EpochPictures pictures_;
  std::string out_;
};

}  // namespace

std::string RenderRunReport(const RunRecording& recording, const std::string& when) {
  return Report(recording, when).Render();
}

}  // namespace augur
