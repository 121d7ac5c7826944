// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/top_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/terminal_text.h"
#include "base/units.h"
#include "diagnosis/finding_text.h"

namespace augur {
namespace {

constexpr size_t kNameColumns = 12;
constexpr size_t kBarColumns = 20;

std::string Padded(std::string text, size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

std::string RightOf(const std::string& text, size_t columns) {
  return text.size() < columns ? std::string(columns - text.size(), ' ') + text : text;
}

std::string Row(std::string_view name, const std::string& text) {
  return Padded(std::string(name), kNameColumns) + text;
}

std::string Bar(double part) {
  const auto full = static_cast<size_t>(std::lround(std::clamp(part, 0.0, 1.0) * kBarColumns));
  return "[" + std::string(full, '#') + std::string(kBarColumns - full, '.') + "]";
}

double PartOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A continuation byte of UTF-8 takes no column.
std::string Clipped(const std::string& line, size_t columns) {
  size_t seen = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
    if (begins && seen++ == columns) return line.substr(0, i);
  }
  return line;
}

double MeanSeconds(const HistogramCounts& counts) {
  return counts.total() == 0 ? 0 : static_cast<double>(counts.sum) / 1e6 / static_cast<double>(counts.total());
}

// Of a second: files that were in the page cache when they were opened, where opens are seen.
double FromPageCache(const RunWindow& window) {
  const uint64_t pushed = window.Delta(Histogram::kLeadTimeUs).total();
  const uint64_t files = window.files();
  const uint64_t reads = window.Delta(Stat::kReads);
  return static_cast<double>(std::max(pushed, files > reads ? files - reads : 0)) / window.seconds();
}

double FromMemory(const RunWindow& window) {
  return window.PerSecond(Stat::kRecordCacheHits) + window.PerSecond(Stat::kRetainedCacheHits) +
         window.PerSecond(Stat::kRenderedHits);
}

double Decoders(const RunWindow& window) {
  return static_cast<double>(window.Delta(Histogram::kDecodeTimeUs).sum) / 1e6 / window.seconds();
}

// Of the orders that are followed, and those behind them.
double OrderPart(const RunWindow& window) {
  return PartOf(window.Now(Gauge::kOrderPosition), window.Now(Gauge::kOrderFiles));
}

void AddJobs(const RunWindow& window, std::vector<std::string>& lines) {
  lines.push_back("  job    files/s       files  order");
  bool any = false;
  for (const OrderReport& job : window.after().jobs) {
    using State = OrderReport::State;
    if (job.state == State::kEnded || job.state == State::kNotSought) continue;
    any = true;
    const std::string rate = RateText(static_cast<double>(window.FilesOf(job)) / window.seconds());
    lines.push_back(RightOf(job.job == 0 ? "?" : FormatCount(job.job), 5) + RightOf(rate, 11) +
                    RightOf(FormatCount(job.files), 12) + "  " + (job.state == State::kKnown ? "" : "not known: ") +
                    TerminalLine(job.text));
  }
  if (any) return;
  const bool off = window.Fact("prefetch") == "off" || !window.after().predicts;
  lines.push_back("    -" + RightOf(RateText(static_cast<double>(window.files()) / window.seconds()), 11) +
                  (off ? "           -  not worked out: predict=off, or too little memory="
                       : "           -  no job now: nothing reads, or all files come from the page cache"));
}

void AddReaders(const RunWindow& window, std::vector<std::string>& lines) {
  std::string text = window.readers() == 0
                         ? std::string("not visible here")
                         : FormatCount(window.readers()) + (window.readers() == 1 ? " process, " : " processes, ") +
                               FixedText(window.readers_processors()) + " processors";
  text += "; wait for the mount " + PercentText(window.wait_share()) +
          " of their time; the daemon: " + FixedText(window.daemon_processors()) + " processors";
  lines.push_back(Row("readers", text));
  const uint64_t files = window.Now(Gauge::kOrderFiles);
  lines.push_back(Row("order", files == 0
                                   ? std::string("none is followed")
                                   : Bar(OrderPart(window)) + " " + FormatCount(window.Now(Gauge::kOrderPosition)) +
                                         " of " + FormatCount(files) + " files, " +
                                         FormatCount(window.Now(Gauge::kOrdersQueued)) + " orders ahead"));
}

void AddSources(const RunWindow& window, std::vector<std::string>& lines) {
  lines.push_back(Row("page cache", RateText(FromPageCache(window)) + " files/s found there; " +
                                        RateText(window.PerSecond(Stat::kPushes)) + " files/s, " +
                                        BytesRateText(window.PerSecond(Stat::kPushedBytes)) + " put there ahead"));
  lines.push_back(Row("in memory", RateText(FromMemory(window)) + " hits/s, " +
                                       RateText(window.PerSecond(Stat::kRecordCacheJoins)) +
                                       " joined a read under way"));
  const HistogramCounts waits = window.Delta(Histogram::kReadWaitUs);
  std::string misses = RateText(window.PerSecond(Stat::kMisses)) + " misses/s; " +
                       RateText(static_cast<double>(waits.total()) / window.seconds()) + " waits/s";
  if (waits.total() > 0) misses += " of " + TimeText(MeanSeconds(waits));
  misses += ", " + RateText(window.PerSecond(Stat::kStalls)) + " stalls/s";
  lines.push_back(Row("misses", misses));
}

void AddDisk(const RunWindow& window, std::vector<std::string>& lines) {
  const bool server = window.Now(Gauge::kServerRequests) > 0;
  std::string reads = RateText(window.PerSecond(Stat::kDiskReads)) + " reads/s";
  if (const uint64_t cost_us = window.Now(Gauge::kDiskReadCostUs); cost_us > 0 && !server) {
    reads += " of " + FormatCount(1'000'000 / cost_us);
  }
  reads += ", " + BytesRateText(window.PerSecond(Stat::kDiskBytes));
  if (const uint64_t most = window.Now(Gauge::kDiskBytesPerSecond); most > 0) {
    reads += " of " + BytesRateText(static_cast<double>(most));
  }
  lines.push_back(Row(server ? "server" : "disk",
                      Bar(window.disk_busy()) + " busy " + PercentText(window.disk_busy()) + "; " + reads));
  const double in_flight = window.reads_in_flight();
  lines.push_back(Row("", FixedText(in_flight) + " reads in flight, each " +
                              TimeText(MeanSeconds(window.Delta(Histogram::kDiskReadUs))) + "; " +
                              BytesRateText(window.PerSecond(Stat::kWastedBytes)) + " read in vain"));
}

constexpr std::array<std::pair<Gauge, std::string_view>, 7> kMemoryParts = {{{Gauge::kRetainedCacheBytes, "kept"},
                                                                             {Gauge::kPushWindowBytes, "page cache"},
                                                                             {Gauge::kStagingBytes, "staging"},
                                                                             {Gauge::kBufferBytes, "buffers"},
                                                                             {Gauge::kRenderedHeldBytes, "views"},
                                                                             {Gauge::kOrderBytes, "orders"},
                                                                             {Gauge::kIndexBytes, "index"}}};

void AddMemory(const RunWindow& window, std::vector<std::string>& lines) {
  const uint64_t used = window.Now(Gauge::kMemoryBytes) + window.Now(Gauge::kPushWindowBytes);
  const uint64_t most = window.Now(Gauge::kMemoryBytesMax);
  lines.push_back(Row("memory=", Bar(PartOf(used, most)) + " " + FormatSize(used) + " of " + FormatSize(most)));
  std::string parts;
  for (const auto& [gauge, name] : kMemoryParts) {
    if (window.Now(gauge) == 0) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(name) + " " + FormatSize(window.Now(gauge));
  }
  lines.push_back(Row("", parts));
}

uint64_t ErrorsOf(const RunWindow& window) {
  uint64_t errors = 0;
  for (const Stat stat :
       {Stat::kReadFailures, Stat::kCorruptBlocks, Stat::kDiskErrors, Stat::kIndexErrors, Stat::kDecodeErrors}) {
    errors += window.Total(stat);
  }
  return errors;
}

void AddDecoding(const RunWindow& window, std::vector<std::string>& lines) {
  if (window.Total(Stat::kImagesDecoded) + window.Total(Stat::kDecodedHits) == 0) return;
  const HistogramCounts times = window.Delta(Histogram::kDecodeTimeUs);
  std::string text = RateText(window.PerSecond(Stat::kImagesDecoded)) + " images/s";
  if (times.total() > 0) text += ", each " + TimeText(MeanSeconds(times));
  text += ", by " + FixedText(Decoders(window)) + " processors; " + RateText(window.PerSecond(Stat::kDecodedHits)) +
          "/s found decoded on the disk";
  lines.push_back(Row("decode", text));
}

}  // namespace

std::vector<std::string> TopLines(const RunWindow& window, const std::string& now, size_t columns, size_t rows) {
  std::vector<std::string> lines = {now + "  " + TerminalLine(window.Fact("mountpoint")) + " shows " +
                                        TerminalLine(window.Fact("store")) + ", generation " +
                                        TerminalLine(window.Fact("generation")),
                                    ""};
  AddJobs(window, lines);
  lines.emplace_back();
  AddReaders(window, lines);
  AddSources(window, lines);
  AddDisk(window, lines);
  AddDecoding(window, lines);
  AddMemory(window, lines);
  const uint64_t errors = ErrorsOf(window);
  lines.push_back(Row("errors", errors == 0 ? std::string("none") : FormatCount(errors) + ": the log names the files"));
  if (lines.size() > rows) lines.resize(rows);
  for (std::string& line : lines) line = Clipped(line, columns);
  return lines;
}

std::string TopJson(const RunWindow& window) {
  using nlohmann::ordered_json;
  ordered_json jobs = ordered_json::array();
  for (const OrderReport& job : window.after().jobs) {
    if (job.state == OrderReport::State::kEnded) continue;
    jobs.push_back({{"job", job.job},
                    {"known", job.state == OrderReport::State::kKnown},
                    {"order", job.text},
                    {"files", job.files},
                    {"files_per_second", static_cast<double>(window.FilesOf(job)) / window.seconds()}});
  }
  const HistogramCounts waits = window.Delta(Histogram::kReadWaitUs);
  ordered_json memory = {{"used_bytes", window.Now(Gauge::kMemoryBytes) + window.Now(Gauge::kPushWindowBytes)},
                         {"max_bytes", window.Now(Gauge::kMemoryBytesMax)}};
  for (const auto& [gauge, name] : kMemoryParts) {
    memory[std::string(kGaugeDefinitions[static_cast<size_t>(gauge)].name)] = window.Now(gauge);
  }
  const ordered_json json = {
      {"mountpoint", window.Fact("mountpoint")},
      {"seconds", window.seconds()},
      {"jobs", std::move(jobs)},
      {"files_per_second", static_cast<double>(window.files()) / window.seconds()},
      {"readers", window.readers()},
      {"readers_processors", window.readers_processors()},
      {"daemon_processors", window.daemon_processors()},
      {"wait_share", window.wait_share()},
      {"page_cache_hits_per_second", FromPageCache(window)},
      {"memory_hits_per_second", FromMemory(window)},
      {"misses_per_second", window.PerSecond(Stat::kMisses)},
      {"waits_per_second", static_cast<double>(waits.total()) / window.seconds()},
      {"wait_seconds_mean", MeanSeconds(waits)},
      {"stalls_per_second", window.PerSecond(Stat::kStalls)},
      {"order", {{"position", window.Now(Gauge::kOrderPosition)}, {"files", window.Now(Gauge::kOrderFiles)}}},
      {"disk",
       {{"busy_share", window.disk_busy()},
        {"reads_in_flight", window.reads_in_flight()},
        {"reads_per_second", window.PerSecond(Stat::kDiskReads)},
        {"bytes_per_second", window.PerSecond(Stat::kDiskBytes)},
        {"bytes_per_second_max", window.Now(Gauge::kDiskBytesPerSecond)},
        {"read_cost_us", window.Now(Gauge::kDiskReadCostUs)}}},
      {"decode", {{"images_per_second", window.PerSecond(Stat::kImagesDecoded)}, {"processors", Decoders(window)}}},
      {"memory", std::move(memory)},
      {"errors", ErrorsOf(window)}};
  return json.dump(2, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace augur
