// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"

namespace augur {

// LimitedLog writes the lines that a reader, a damaged store or a failing disk can provoke at will, without filling the
// log. Lines have a source ("failed reads") and a key (the file and the cause). In a period of kPeriod:
//   1. a source writes its first kLinesMax lines, but only one line of each key;
//   2. the others are counted, and one line at the end tells how many: "failed reads: and 12,345 more in the last 60 s,
//      the last one: TEXT".
// So a source writes at most kLinesMax + 1 lines in a period, and one failing file does not hide the next one.
// Safe from any thread; a call waits for the log alone. Memory is bounded: kSourcesMax sources of some 3 KB. Not for
// lines that only the operator causes.
class LimitedLog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Level = spdlog::level::level_enum;
  using Clock = std::function<Time()>;
  using Write = std::function<void(Level level, const std::string& line)>;

  // A line is some 200 bytes, so one source writes 6 MB a day at the most.
  static constexpr std::chrono::seconds kPeriod{60};
  static constexpr size_t kLinesMax = 20;
  static constexpr size_t kSourcesMax = 32;      // the lines of further ones have the source "others"
  static constexpr size_t kSourceBytesMax = 64;  // of a source's name
  static constexpr size_t kTextBytesMax = 2048;  // of a line

  LimitedLog(Clock clock, Write write) : clock_(std::move(clock)), write_(std::move(write)) {}
  LimitedLog(const LimitedLog&) = delete;
  LimitedLog& operator=(const LimitedLog&) = delete;

  // Writes or counts a line. Source and text are cut to their maxima; their bytes must be printable (Printable). The
  // key may be any bytes.
  void Log(Level level, std::string_view source, std::string_view key, std::string_view text);

  // Ends the periods that are over: what they counted is written. To be called now and then, and else at the next line.
  void Tick() { End(/*all=*/false); }
  // Ends all periods, for the end of the program.
  void Flush() { End(/*all=*/true); }

  // Calls that were counted and not written, since the start.
  uint64_t held_count() const;

 private:
  struct Source {
    Time begin{};
    std::unordered_set<size_t> keys;  // hashes of those written in this period: kLinesMax at most
    uint64_t held = 0;
    Level level{};     // of the last one held
    std::string last;  // the text of it
  };
  struct Line {
    Level level{};
    std::string text;
  };

  void End(bool all);
  // Adds the line that ends a period of the source, if it has counted anything.
  static void Sum(std::string_view name, const Source& source, Time now, std::vector<Line>& lines);
  // Removes the sources whose period is over.
  void EndPeriods(Time now, bool all, std::vector<Line>& lines) AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const Clock clock_;
  const Write write_;

  mutable Mutex mu_;
  std::map<std::string, Source, std::less<>> sources_ AUGUR_GUARDED_BY(mu_);  // in a period
  uint64_t held_ AUGUR_GUARDED_BY(mu_) = 0;
};

// The one of this process: by the steady clock, to spdlog's default logger.
LimitedLog& ProcessLog();

// ProcessLog().Log, unless lines of this level are not logged at all.
void LogLimited(LimitedLog::Level level, std::string_view source, std::string_view key, std::string_view text);

}  // namespace augur
