// SPDX-License-Identifier: Apache-2.0
#include "base/limited_log.h"

#include <algorithm>

#include "base/excerpt.h"

namespace augur {
namespace {

constexpr std::string_view kOthers = "others";

// The text is printable already: only the length is at stake.
std::string Cut(std::string_view text, size_t bytes_max) {
  return text.size() <= bytes_max
             ? std::string(text)
             : std::string(text.substr(0, bytes_max)) + "... (" + FormatCount(text.size()) + " bytes)";
}

}  // namespace

void LimitedLog::Log(Level level, std::string_view source, std::string_view key, std::string_view text) {
  source = source.substr(0, kSourceBytesMax);
  const size_t hash = std::hash<std::string_view>()(key);
  std::vector<Line> lines;
  {
    const MutexLock lock(mu_);
    const Time now = clock_();
    EndPeriods(now, /*all=*/false, lines);
    auto found = sources_.find(source);
    if (found == sources_.end()) {
      if (sources_.size() >= kSourcesMax) source = kOthers;
      found = sources_.try_emplace(std::string(source)).first;
      found->second.begin = now;
    }
    Source& one = found->second;
    if (one.keys.size() < kLinesMax && one.keys.insert(hash).second) {
      lines.push_back({.level = level, .text = Cut(text, kTextBytesMax)});
    } else {
      ++one.held;
      ++held_;
      one.level = level;
      one.last = Cut(text, kTextBytesMax);
    }
  }
  for (const Line& line : lines) write_(line.level, line.text);
}

void LimitedLog::End(bool all) {
  std::vector<Line> lines;
  {
    const MutexLock lock(mu_);
    EndPeriods(clock_(), all, lines);
  }
  for (const Line& line : lines) write_(line.level, line.text);
}

void LimitedLog::Sum(std::string_view name, const Source& source, Time now, std::vector<Line>& lines) {
  if (source.held == 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - source.begin).count();
  lines.push_back({.level = source.level,
                   .text = std::string(name) + ": and " + FormatCount(source.held) + " more in the last " +
                           FormatCount(static_cast<uint64_t>(std::max<int64_t>(seconds, 1))) +
                           " s, the last one: " + source.last});
}

void LimitedLog::EndPeriods(Time now, bool all, std::vector<Line>& lines) {
  for (auto one = sources_.begin(); one != sources_.end();) {
    if (!all && now - one->second.begin < kPeriod) {
      ++one;
      continue;
    }
    Sum(one->first, one->second, now, lines);
    one = sources_.erase(one);
  }
}

uint64_t LimitedLog::held_count() const {
  const MutexLock lock(mu_);
  return held_;
}

LimitedLog& ProcessLog() {
  static LimitedLog log([] { return std::chrono::steady_clock::now(); },
                        [](LimitedLog::Level level, const std::string& line) { spdlog::log(level, "{}", line); });
  return log;
}

void LogLimited(LimitedLog::Level level, std::string_view source, std::string_view key, std::string_view text) {
  if (spdlog::should_log(level)) ProcessLog().Log(level, source, key, text);
}

}  // namespace augur
